// Package router is the service: it joins the chain, the registry and the bus,
// and is the one place where the story of an event reads in order. See emit.go:
// take a slot, check the event, look its hooks up, publish it, run the chain,
// answer, publish the result, tell the observers.
//
// # Ordering
//
// The hooks of one event run one after the other; events run beside each other,
// each in a goroutine of its own. The list of hooks is the table's at the moment
// the event was taken.
//
// # Backpressure
//
// At most Options.MaxInFlight requests of agents are under way, and
// Options.MaxPerSession of one session; the next is refused with 429. Nothing
// waits in a queue.
//
// # Failure
//
// A replica whose table may be behind answers 503. An event whose time is over
// before every hook was heard is answered with 504, never with a result.
package router
