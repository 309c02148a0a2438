// Package worker runs hooks: it registers functions for events, and the routers call them
// for those events wherever they happen.
//
// # Usage
//
// Create a [Worker] with [New] on a [hookrouter.Client], [Worker.Register] handlers, and
// [Worker.Run] until the program ends. A handler gets the event and returns a [Result]:
// [Continue], [Deny], [Modify], [Inject] or [Ask]. [Run] does all of it for one hook.
//
// # Registration
//
// A registration renews itself and comes back after a reconnect. When Register
// returns, every router calls the hook from the next event on. Several processes
// may register the same hook: they share its calls. [Worker.Update] changes a
// registration without missing a call.
//
// # Failure
//
// An error or a panic of a handler is a failure of the hook: the registration's OnFailure
// says what it means, not the handler. A hook with OnFailure deny
// stays registered when its last worker goes, and then denies; [Worker.Retire]
// removes it for good.
//
// # Concurrency
//
// Handlers are called concurrently, Options.MaxInFlight of one hook at most; the
// next call waits, within its time. A handler must stop when its context ends: the
// router has stopped waiting then.
//
// # Testing
//
// Package hooktest runs a handler on a real bus in the test's process.
package worker
