// Package natstest starts real NATS servers in the test process.
//
// [Server], [Listening] and [Cluster] start servers, and [Conn] and [Client] connect to them. Each
// call starts separate servers, so tests can run in parallel. Everything is stopped when the test
// ends. [Stall] holds messages back, to simulate a stalled consumer.
package natstest
