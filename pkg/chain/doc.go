// Package chain is what is decided: hooks, their results, the order they run
// in, and the one verdict they add up to. It knows no network; the router joins
// it to NATS, and a program can run the same engine with hooks of its own.
//
// # Usage
//
// A [Registry] is the in-process form: register hooks, emit events, get a
// [Result]. With package local it has match, a budget of injections and approvals,
// as with a router. The router keeps a [Table] of its own and calls [Run] on it.
//
// # Ordering
//
// Hooks run one after the other: lower priority first, then the one that was
// registered first. The list is taken when the event arrives; what is registered
// later does not run for it. A modification replaces the data for every hook
// after it. The first denial ends the chain.
//
// # Precedence
//
// deny, then ask_user (the first), then inject_context (all, joined by a blank
// line), then continue with the data as the chain left it.
//
// # Failure
//
// A denial is a value, not an error. A hook that fails (error, time-out, nobody
// there, invalid result) is passed over, or denies, as its registration says
// with on_failure; [Call.Failure] says which failure it was. An error from [Run]
// means that nothing was decided: the chain's time was over.
//
// # Concurrency
//
// A Table is immutable and may be read by any number of goroutines. Run uses
// the caller's goroutine only. A Registry is safe for concurrent use.
package chain
