// Package worker runs hooks: it registers functions for events, and routers call them wherever
// these events happen.
//
// # Usage
//
// Create a [Worker] with [New] on a [hookrouter.Client], [Worker.Register] handlers, and
// [Worker.Run] until the program ends. A handler gets the event and returns a [Result]: [Continue],
// [Deny], [Modify], [Inject] or [Ask]. A program with one hook needs only [Run].
//
// # Registration
//
// When Register returns, every router calls the hook from the next event on. The worker renews its
// registrations, and restores them after a reconnect. Several processes may register the same hook
// and share its calls. [Worker.Update] changes a registration without missing a call.
//
// # Failure
//
// An error or panic in a handler is a failure of the hook, and the registration's OnFailure says
// what that means for the event. By default a hook with OnFailure deny stays registered after its
// last worker is gone, and then denies; [Worker.Retire] removes it for good.
//
// # Concurrency
//
// Handlers are called concurrently, up to Options.MaxInFlight calls for each hook; further calls
// wait within their time. A handler must return when its context ends, since the router has stopped
// waiting.
//
// # Testing
//
// Package hooktest runs a handler on a real bus in the test's process.
package worker
