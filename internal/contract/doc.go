// Package contract checks that a live hook conforms to the wire protocol: it must return valid
// results for every standard event that it registered for, within its timeout, and survive
// unexpected data.
//
// # Usage
//
// [Validate] takes a NATS connection and a hook's id, and returns a [Report] for people or, as
// JSON, for programs. `hookctl validate` uses it; package hooktest uses it for a Go handler in a
// test.
//
// # Effects on the hook
//
// It calls the hook directly, not through the router, with Hook-Mode shadow; the answers have no
// effect. A hook with side effects, such as sending messages, has them for each check unless it
// honors the mode. Nothing is registered, changed or published for observers.
//
// # Requirements
//
// All members of the data are optional, and unknown members are allowed: a hook must not return an
// error for such data. It may return an error for data that violates the event's schema, and for
// data that its match filters out. It must never panic, return an invalid reply or time out.
//
// # Concurrency
//
// There is no shared state. A validation makes one call at a time.
package contract
