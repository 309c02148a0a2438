// Package evaluate determines how hooks would decide events, without side effects: nothing is
// emitted, published or recorded.
//
// # Usage
//
// [RunTests] runs the tests in a worker file. [Events] runs the events of a file through the hooks
// of a worker file. A [Report] writes the results as text, as JSON or as JUnit XML.
//
// [Replay] runs the chains of an audit log (a [Source]: [FromLog] or [FromExport]) through a
// [Policy], and compares the recorded decisions with the new ones: [Live] calls the registered
// hooks, [FilePolicy] runs the hooks of a worker file. A [Summary] adds up the results.
//
// # Which hooks are called
//
// In a worker file, rules are called, and builtins that only answer and keep state. A hook with
// side effects (see [kind.Hook.Acts]) is called only if its registration says replay_safe, or if
// all hooks are to run. An event that reaches any other hook is [Undecided], as is one that reaches
// a hook that this machine can't run (see [workerfile.Options].FileOnly). If a test assumes the
// answer of a hook, that answer is used.
//
// Of the registered hooks, those whose registration says replay_safe and those in mode shadow are
// called; the call says Hook-Mode: shadow. A router provides the hooks and their order. For every
// other hook the recorded answer is used; if the recorded chain has none, it is [Undecided].
// [chain.Run] runs both sides of a comparison.
//
// # Data missing from the log
//
// A chain is [Undecided] if the log does not have its data: the router kept only digests, or the
// data was too large. If secrets were masked, the hooks see the mask, and the result says so. The
// log does not have the agent's default fields. They are derived from what the first modifying hook
// returned; if no hook modified the data, the session's id is assumed to be one. A chain that asked
// a person is compared by the request: the person's answer is not a decision of a hook.
//
// # Time and memory
//
// Hooks that may keep state are rebuilt for each test. A test has its own clock, which advances
// only as the test says. A recorded event runs at its recorded time.
//
// # Failure
//
// An [Undecided] concerns one event or chain, and is counted. Any other error ends the run.
//
// # Concurrency
//
// Several goroutines call a [Policy]. [Replay] returns when everything that it started has ended,
// with the results in the order of the log. Everything else must be used by one goroutine.
package evaluate
