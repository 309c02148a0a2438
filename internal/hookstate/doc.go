// Package hookstate keeps what hooks remember from one event to the next: counts,
// lists, times. Several workers share the calls of one hook, so what one of them
// learned must be seen by the others.
//
// # Usage
//
// A [Store] holds small values by key. A change is a function of the current
// value, and is called again when another writer was faster:
//
//	err := store.Update(ctx, "reads."+session, func(old []byte) ([]byte, error) {
//		return append(old, '+'), nil
//	})
//
// [Memory] is a store of one process, for tests and for policies that are tried
// without a bus. Package bucket has the store that the replicas of a worker share, on
// NATS, which this package does not need. [Sessions] are values of one type in either, one
// for each session.
//
// # Failure
//
// A store that can't be reached returns an error in time for its hook to fail; what that
// means for the event, the hook's on_failure says.
//
// # Concurrency
//
// Stores are safe for concurrent use. Where a call waits for another one of this
// process, it waits no longer than its context.
package hookstate
