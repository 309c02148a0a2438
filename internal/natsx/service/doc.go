// Package service answers requests over a connection of package natsx. It is apart from
// natsx because programs that only send requests start faster without it.
//
// # Usage
//
// [Start] answers the discovery subjects of NATS micro, and [Service.Add] requests on an
// [Endpoint].
//
// # Backpressure
//
// Every request runs in a goroutine of its own. A [Limiter] bounds how many of them are
// in flight; beyond it a request waits or is answered with 429, as its [Endpoint] says.
//
// # Failure
//
// A handler's error is answered with the code that [wire.FromError] gives it. A request whose
// reply subject is no inbox is dropped and counted.
//
// # Concurrency
//
// A Service is safe for concurrent use. [Service.Stop] waits for every request that was
// received.
package service
