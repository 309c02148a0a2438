// Package chain decides events: hooks, their results, the order in which they run, and the one
// result they add up to. It knows no network. The router connects it to NATS, and a program can
// run the same engine with hooks of its own.
//
// # Usage
//
// A [Registry] is the in-process form: register hooks, emit events, get a [Result]. Package
// local adds match, an injection budget and approvals, as a router has them. The router keeps a
// [Table] of its own and calls [Run] on it.
//
// # Ordering
//
// Hooks run one after the other, by ascending priority, then in order of registration. The list
// is fixed when the event arrives; a hook that is registered later does not run for it. A
// modification replaces the data for every later hook. The first denial ends the chain.
//
// # Precedence
//
// deny, then ask_user (the first), then inject_context (all, joined by a blank line), then
// continue with the data as the chain left it.
//
// # Failure
//
// A denial is a value, not an error. A hook that fails (error, time-out, no responder, invalid
// result) is skipped, or denies, as its registration says with on_failure; [Call.Failure] says
// which failure it was. An error from [Run] means that nothing was decided: the chain's time was
// over.
//
// # Concurrency
//
// A Table is immutable and may be read by any number of goroutines. A Registry is safe for
// concurrent use. [Run] calls neighbors that only validate concurrently, and other hooks in the
// caller's goroutine.
package chain
