// Package contract checks that a live hook keeps the wire protocol: that it
// answers valid results for every standard event it registered for, within its
// time-out, and survives data that nobody expects.
//
// # Usage
//
// [Validate] takes a NATS connection and a hook's id, and gives a [Report] that
// prints for a person and marshals for a program. `hookctl validate` does just
// that; package hooktest does it for a Go handler in a test.
//
// # What it does to the hook
//
// It calls the hook directly, past the router, with Hook-Mode shadow: nobody acts
// on the answers. A hook that acts on the world all the same (sends messages,
// counts) does so for each check, and should look at the mode. Nothing is
// registered, changed or published for observers.
//
// # What is asked of the hook
//
// No member of the data is required and others may stand beside them: to data
// like that an error is no answer. Data that breaks the event's schema, and data
// that the hook's match keeps from it, may be answered with an error, but never
// with a panic, with garbage, or with silence.
//
// # Concurrency
//
// Everything here is a value or a function; calls are made one after the other.
package contract
