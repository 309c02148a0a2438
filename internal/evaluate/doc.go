// Package trial runs events through the hooks of a worker file without a bus: for the
// tests that stand in the file, and for events that were recorded or made up.
//
// # Usage
//
// [Run] runs the tests of a file, [Try] and [Events] any events; a [Report] writes what
// came of them, for people, as JSON or as JUnit XML. [NewChain] is the hooks of a file as
// a chain, for who wants to run it in another way.
//
// # What is called
//
// Rules, and builtins that only answer and remember. A hook that acts in the world (see
// [kind.Hook.Acts]) is called where its registration says replay_safe, or [Options.RunAll]
// does; an event that reaches another one is not decided. A hook in mode shadow is called,
// and what it says is shown and counts for nothing. One that observes is said to be told,
// and called only where all are. A hook that this machine can't run (see
// [workerfile.Options].FileOnly) is not called either; an event that reaches it is not
// decided. Of a hook whose answer a test assumes (see [workerfile.Assumed]) that is taken, and
// the hook not called.
//
// # Why
//
// A [Hop] has what the hook said, what it changed, where the rule stands that decided
// (see [kind.Decided]), or why it was not called.
//
// # Time and memory
//
// Hooks that may remember something are made anew for each test. It has a time of its
// own, which passes only as the test says.
//
// # Concurrency
//
// A [Chain] is immutable. Everything else is used by one goroutine.
package evaluate
