// Package reload registers the hooks of a worker file, and replaces them with those of another file
// while they are being called.
//
// # Usage
//
// Create a [Set] for a worker, and [Set.Apply] a file to it. Apply the file again whenever it was
// reread. After the worker is closed, [Set.Close] the set.
//
// # All or nothing
//
// Apply registers new hooks and updates registrations that changed. Only when routers have accepted
// all of them do the new hooks answer, and hooks that the file no longer has are removed. If a
// router rejects a registration, the earlier ones are rolled back, and the error names the hook's
// place in the file. If the removal of a hook fails, that is only a warning: its instance expires
// on its own.
//
// # No call is lost
//
// A registration that stays keeps its subscription. A hook whose registration is unchanged is
// swapped at once; one that was built from the same section is not touched. If the registration
// changed, calls arrive for a while under both the old and the new one. A hook that wants the event
// answers each call. If both want it, the new one answers from the moment at which Apply commits.
//
// # Guards
//
// A guard, or another durable hook, that was removed from the file stays registered and denies:
// deleting a line from a file must not open a gate. The log says how to remove it. To have a file
// remove it, set durable: false in a first step. The same happens to a new guard if a later hook of
// the file was rejected.
//
// # Contributors
//
// A hook's contributions to channels are registered separately, under the hook's id with the suffix
// "-channels".
//
// # Lifetime
//
// A hook is closed when its last call has returned, but not before the end of the last chain that
// began before it was swapped and may still call it.
//
// # Concurrency
//
// A Set is safe for concurrent use; calls of Apply wait for each other. It has no goroutine of its
// own.
package reload
