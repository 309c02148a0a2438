// Package natsx is the one package that speaks NATS for the router, the workers and the
// agents: connections, services, key-value buckets and append-only streams.
//
// # Usage
//
// [Connect] opens a connection that reconnects for ever and never buffers what it can't
// send. [Conn.Request] sends one request and tells an error reply, a missing responder
// and a timeout apart. [Conn.Serve] answers requests on endpoints and the discovery
// subjects of NATS micro. [Bucket] is a key-value bucket in which every write names the
// revision it follows; [Stream] is a log that clients can neither edit nor empty.
//
// # Backpressure
//
// Every request runs in a goroutine of its own. A [Limiter] bounds how many of them are
// in flight; beyond it a request waits or is answered with 429, as its [Endpoint] says.
//
// # Failure
//
// [ErrDisconnected], [ErrNoResponders], [ErrPermission], [ErrRevision], [ErrNoKey],
// [ErrNoStream], [ErrClosed] and [ErrBehind] are for errors.Is. A handler's error is
// answered with the code that [wire.FromError] gives it. A request whose reply subject is
// no inbox is dropped and counted.
//
// # Concurrency
//
// A Conn, a Service, a Bucket and a Stream are safe for concurrent use. [Service.Stop]
// waits for every request that was received.
package natsx
