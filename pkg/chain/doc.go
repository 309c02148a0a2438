// Package chain runs hooks on an event: in which order they run, what their results mean, and which
// single result they add up to. It does no network I/O. The router connects it to NATS; a program
// can run the same engine with its own hooks.
//
// # Usage
//
// A [Registry] is the in-process form: register hooks, emit events, get a [Result]. Package local
// adds match, an injection budget and approvals, as in a router. The router keeps a [Table] of its
// own and calls [Run].
//
// # Ordering
//
// Hooks run one after the other, by ascending priority, then in order of registration. The list is
// fixed when the event arrives; a hook that is registered later does not run for it. A modification
// replaces the data for all later hooks. The first denial ends the chain.
//
// # Precedence
//
// deny wins over ask_user (the first one), which wins over inject_context (all, joined by blank
// lines), which wins over continue with the data as the chain left it.
//
// # Failure
//
// A denial is a value, not an error. A hook that fails (error, time-out, no responder, invalid
// result) is skipped or denies, as the on_failure of its registration says; [Call.Failure] holds
// the class of the failure. An error from [Run] means that nothing was decided: the chain's time
// was over, or its [Caller] returned an [Abort].
//
// # Concurrency
//
// A Table is immutable and safe for concurrent use. So is a Registry, which can change. [Run] calls
// adjacent hooks that only validate concurrently, and other hooks in the caller's goroutine.
package chain
