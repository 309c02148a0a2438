// Package process finds the programs of other people that hooks need and runs them:
// the commands of the hook kind exec, and git, linters and what else builtins call.
//
// # Usage
//
// [Find] gives the path of a program, or says what to do; [Program.Run] runs it to its
// end, with a bounded output.
//
// # Environment
//
// A program sees the variables that its Env has, and none of this process beside them;
// [Environ] picks some of those by name. One more is added, HOOK_RUN, which differs
// from run to run.
//
// # Processes
//
// A program leads a process group of its own, which is killed when the context is over,
// when it printed too much, and when it has ended: what it left running in the
// background ends with it. Where it was killed, children that made themselves a group
// or a session of their own are killed too; they are known by their HOOK_RUN, so this
// needs Linux. Where it ended by itself they live on: setsid is how a program says so.
// A program is killed too when this process dies, even by SIGKILL, on Linux again; what
// it started then is not.
//
// # Platforms
//
// Programs run on Unix only. Elsewhere [Find] and [Program.Run] return an error that
// wraps [errors.ErrUnsupported]: without process groups nothing could kill a program
// together with its children.
//
// # Concurrency
//
// A [Program] is read-only and may be run by any number of goroutines at once, unless
// its Stderr says otherwise. Each run holds a thread.
package process
