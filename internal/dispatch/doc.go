// Package dispatch decides events: it runs the hooks of an event and composes the answer. It does
// no I/O of its own and does not depend on NATS. It declares what it needs as small interfaces,
// which the router implements: see [Dependencies].
//
// # The path of an event
//
// [Dispatcher.Emit] reads top to bottom:
//
//	admit     limits, the session's slot, the hooks in force
//	announce  publish the event for watchers
//	run       chain.Run: call the hooks in order, deny ends the chain
//	record    write the audit records and wait for the log
//	leave     deny what was frozen meanwhile
//	answer    returned to the endpoint, which sends it
//	finish    [Answer.Sent]: publish the result, notify observing hooks, count
//
// [Dispatcher.Execute] adds a stage between run and record: coordinate composes the
// verdict, charges injections to the turn's budget and, where a hook asks, opens an
// approval request. [Dispatcher.Collect] calls all hooks at the same time.
//
// # Ordering
//
// The hooks of one event run in order; adjacent validating hooks run concurrently. Events run
// concurrently, each in its caller's goroutine. An event gets the hooks that the hook table has at
// its admission. In strict mode, no answer is returned before its records are durable.
//
// # Backpressure
//
// Each session has at most [Options].MaxPerSession requests in flight, and each proven agent
// MaxPerAgent; the next one fails with 429. Shadow and async calls have limits of their own; calls
// beyond them are dropped and counted. Nothing queues.
//
// # Failure
//
// A denial is a value. An error means that nothing was decided: it is a [wire.Error] with the code
// to answer with. A stale hook table answers 503, a chain that runs out of time 504, an audit log
// that does not store the records 503.
//
// # Ownership
//
// The endpoint owns the reply. Dispatch returns an [Answer] and never sends one; the endpoint sends
// it and reports that with [Answer.Sent]. If a person has to decide first, it calls [Answer.Await]
// before. A session's slot is released when Emit, Execute or Collect returns.
package dispatch
