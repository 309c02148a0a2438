// Package integration tests whole routers on real NATS servers: several replicas,
// a cluster of three, workers and connections that go away, drains and races. Its
// tests speak to a router only as agents and workers do.
package integration
