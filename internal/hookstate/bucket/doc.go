// Package bucket keeps the state of hooks in a bucket of NATS, which all replicas of a
// worker share.
package bucket
