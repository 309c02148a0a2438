// Package bus is the wire: the one package that speaks NATS for the router, the
// workers and the agents. It decides nothing.
//
// [Connect] opens a connection that reconnects for ever and never buffers what
// it can't send. [Bus.Request] asks one question and tells a refusal, a missing
// responder and a time-out apart. [Bus.Serve] answers: every request in a
// goroutine of its own, at most so many at once, never to a reply subject that
// is no inbox; it also answers the NATS micro discovery subjects. [Bucket] is a
// key-value bucket where every write says which revision it follows.
//
// # Concurrency
//
// A Bus, a Service and a Bucket are safe for concurrent use. [Service.Stop]
// waits for every request that was taken.
package natsx
