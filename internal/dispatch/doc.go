// Package dispatch decides what becomes of an event: it runs the hooks that want
// it and composes the one answer. It does no I/O of its own and knows no NATS;
// what it needs is declared here as small interfaces ([Hooks], [Transport],
// [Sessions], [Approvals], [Journal], [Observer]) and plugged in by the router.
//
// # The path of an event
//
// [Dispatcher.Emit] reads top to bottom, and each stage has its inputs and outputs
// in its signature:
//
//	admit     limits, the session's slot, the hooks in force
//	announce  publish the event for watchers
//	run       chain.Run: one call after the other, deny ends the chain
//	record    write the audit records and wait for the log
//	answer    returned to the endpoint, which sends it
//	finish    [Answer.Sent]: publish the result, notify observing hooks, count
//
// [Dispatcher.Execute] adds a stage between run and record: coordinate composes the
// verdict, charges injections to the turn's budget and, where a hook asks, opens an
// approval request. [Dispatcher.Collect] calls all hooks at the same time.
//
// # Ordering
//
// The hooks of one event run one after the other; events run beside each other, each
// in its caller's goroutine. The list of hooks is the table's at the moment of
// admission. No answer is returned before its records are durable (strict mode).
//
// # Backpressure
//
// Each session has at most [Options].MaxPerSession requests under way; the next one
// fails with 429. Shadow calls run beside the chain, 256 at most; more are dropped
// and counted. Nothing queues.
//
// # Failure
//
// A denial is a value. An error means that nothing was decided: it is a
// [wire.Error] with the code to answer with. A stale hook table answers 503, a chain
// that runs out of time 504, a log that does not take the records 503.
//
// # Ownership
//
// The endpoint owns the reply. Dispatch returns an [Answer] and never sends one; the
// endpoint sends it and reports that with [Answer.Sent], or with [Answer.Await] when a
// person has to decide first. A session's slot is released when Emit, Execute or
// Collect returns.
package dispatch
