// Package reload keeps the hooks of a worker file on the bus, and changes them to
// those of another file while they are called.
//
// # Usage
//
// Make a [Set] of a worker, and [Set.Apply] a file to it; apply the file again
// whenever it was read anew. After the worker was closed, [Set.Close] it.
//
// # All or nothing
//
// Apply registers what is new and changes the registrations that are other than they
// were. Only when routers have taken all of it, the new hooks answer, and what left
// the file is taken off. Where a router refuses one registration, those before it are
// taken back, and the error names the hook's place in the file. What left the file and
// can't be taken off is a warning: its instance is forgotten by itself.
//
// # No call is lost
//
// A registration that stays, stays subscribed. A hook whose registration is the same is
// exchanged at once; one that was built from the same section is not touched. Where the
// registration changed, calls come for a while by the old one and by the new one: each
// is answered by a hook that wants the event, and where both do, by the new one from
// the moment that Apply decides.
//
// # Guards
//
// A guard, or another durable hook, that left the file stays registered and denies:
// who takes a line out of a file does not open a gate by that. The log says how to
// remove it. To have a file do so, say durable: false in a first step. The same becomes
// of a new guard where a later hook of the file was refused.
//
// # Contributors
//
// What a hook contributes to channels is registered beside it, under its id with
// "-channels" behind it.
//
// # Lifetime
//
// A hook is closed when its last call has returned, and no sooner than a chain that
// began before it was exchanged can call it.
//
// # Concurrency
//
// A Set may be used by many goroutines; one Apply waits for the other. It has no
// goroutine of its own.
package reload
