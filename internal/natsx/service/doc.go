// Package service answers requests over a connection of package natsx. It is separate from natsx so
// that programs that only send requests start faster.
//
// # Usage
//
// [Start] answers the discovery subjects of NATS micro. [Service.Add] adds an [Endpoint] that
// answers requests.
//
// # Backpressure
//
// Every request runs in its own goroutine. A [Limiter] bounds the requests in flight. Beyond it, a
// request waits or is answered with 429, as its [Endpoint] specifies.
//
// # Failure
//
// A handler's error is answered with the code that [wire.FromError] returns. A request whose reply
// subject is not an inbox is dropped and counted.
//
// # Concurrency
//
// A Service is safe for concurrent use. [Service.Stop] waits for every request that was
// received.
package service
