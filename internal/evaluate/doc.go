// Package evaluate says what hooks would decide of events, without effect: nothing is
// emitted, published or recorded.
//
// # Usage
//
// [RunTests] runs the tests that are in a worker file, [Events] the events of a file
// through the hooks of another; a [Report] writes what came of them, for people, as JSON
// or as JUnit XML.
//
// [Replay] takes the chains of an audit log (a [Source]: [FromLog] or [FromExport])
// through a [Policy], and compares what was decided with what would be: [Live] asks the
// hooks that are registered, [FilePolicy] runs those of a worker file. A [Summary] adds up
// what came of it.
//
// # What is called
//
// Of a worker file: rules, and builtins that only answer and remember. A hook that acts in
// the world (see [kind.Hook.Acts]) is called only where its registration says replay_safe,
// or where all hooks are to run. An event that reaches another one is [Undecided], as is
// one that reaches a hook that this machine can't run (see [workerfile.Options].FileOnly).
// Of a hook whose answer a test assumes, that answer is taken.
//
// Of registered hooks: those whose registration says replay_safe, and those in mode
// shadow; the call says Hook-Mode: shadow. A router is asked for the hooks and their order. For every
// other hook the recorded chain answers, and where that has no answer the chain is
// [Undecided]. Both sides of a comparison are run by [chain.Run].
//
// # What the log does not hold
//
// A chain is [Undecided] where the log has no data of it: the router kept digests only, or
// it was too large. Where secrets were masked the hooks see the mask, and the result says
// so. Default fields of the agent are not in the log: they are taken from what the first
// modifying hook returned, and where no hook modified the data, the session's id is taken
// for one. A chain that asked a person is compared by the request: what the person answered
// is no decision of a hook.
//
// # Time and memory
//
// Hooks that may remember something are made anew for each test. It has a time of its own,
// which passes only as the test says. A recorded event runs at its recorded time.
//
// # Failure
//
// An [Undecided] is about one event or chain, and is counted. Any other error ends the run.
//
// # Concurrency
//
// A [Policy] is called by several goroutines. [Replay] returns when
// all that it started has ended, with the results in the order of the log. Everything else
// is used by one goroutine.
package evaluate
