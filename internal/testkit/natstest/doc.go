// Package natstest starts real NATS servers in the process of a test.
//
// [Server], [Listening] and [Cluster] start servers, and [Conn] and [Client] connect to
// them. Each call is a bus of its own, so that tests can run in parallel. Everything ends
// with the test. [Stall] holds messages back, as a consumer that stands still would.
package natstest
