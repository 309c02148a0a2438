// Package hookstate stores the state of hooks between events, such as counts, lists and times. The
// workers of a hook share its calls, so they must share its state.
//
// # Usage
//
// A [Store] has small values by key. A change is a function of the current value. It is called
// again if another writer was first:
//
//	err := store.Update(ctx, "reads."+session, func(old []byte) ([]byte, error) {
//		return append(old, '+'), nil
//	})
//
// [Memory] is a store in one process, for tests and for trying policies without NATS. Package
// bucket has the store on NATS that the replicas of a worker share; this package does not depend on
// NATS. [Sessions] are values of one type in a store, one for each session.
//
// # Failure
//
// An unavailable store returns an error before the hook's timeout. The hook's on_failure determines
// what that means for the event.
//
// # Concurrency
//
// Stores are safe for concurrent use. A call that waits for another call of this process stops
// waiting when its context ends, or, while a write is in progress, at the timeout of the write.
package hookstate
