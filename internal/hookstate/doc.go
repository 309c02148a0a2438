// Package hookstate keeps what hooks remember from one event to the next: counts,
// lists, times. Several workers share the calls of one hook, so what one of them
// learned must be seen by the others.
//
// # Usage
//
// A [Store] holds small values by key. Whoever changes one says how, from what is
// there, and is asked again when somebody else was faster:
//
//	err := store.Update(ctx, "reads."+session, func(old []byte) ([]byte, error) {
//		return append(old, '+'), nil
//	})
//
// [Memory] is a store of one process, for tests and for policies that are tried
// without a bus.
//
// # Concurrency
//
// Stores are safe for concurrent use. No lock is held while a store asks another
// process.
package hookstate
