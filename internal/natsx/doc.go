// Package natsx is the NATS layer of the router, the workers and the agents: connections, key-value
// buckets and append-only streams. Its sub-package service answers requests.
//
// # Usage
//
// [Connect] opens a connection that reconnects forever and never buffers messages while it is
// disconnected. [Conn.Request] sends one request and distinguishes an error reply, a missing
// responder and a time-out. [Bucket] is a key-value bucket in which every write names the revision
// that it replaces. [Stream] is a log that clients can neither edit nor purge. [Settings] watches
// the settings that both need.
//
// # Failure
//
// Use errors.Is with [ErrDisconnected], [ErrNoResponders], [ErrPermission], [ErrRevision],
// [ErrNoKey], [ErrNoStream], [ErrClosed] and [ErrBehind].
//
// # Concurrency
//
// A Conn, a Bucket and a Stream are safe for concurrent use.
package natsx
