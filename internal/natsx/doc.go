// Package natsx is the one package that speaks NATS for the router, the workers and the
// agents: connections, key-value buckets and append-only streams. Its sub-package service
// answers requests.
//
// # Usage
//
// [Connect] opens a connection that reconnects for ever and never buffers what it can't
// send. [Conn.Request] sends one request and tells an error reply, a missing responder
// and a timeout apart. [Bucket] is a key-value bucket in which every write names the
// revision it follows; [Stream] is a log that clients can neither edit nor empty. [Settings]
// notices when somebody changes what either needs.
//
// # Failure
//
// [ErrDisconnected], [ErrNoResponders], [ErrPermission], [ErrRevision], [ErrNoKey],
// [ErrNoStream], [ErrClosed] and [ErrBehind] are for errors.Is.
//
// # Concurrency
//
// A Conn, a Bucket and a Stream are safe for concurrent use.
package natsx
