// Package process finds and runs external programs: the commands of the hook kind exec, and
// programs that builtins call, such as git and linters.
//
// # Usage
//
// [Find] returns the path of a program, or an error that says what to do. [Program.Run] runs the
// program until it exits, with limited output.
//
// # Environment
//
// A program gets only the variables in its Env, and HOOK_RUN, which is unique for each run.
// [Environ] selects variables of this process by name.
//
// # Processes
//
// A program leads its own process group. The group is killed when the context ends, when the
// program prints too much, and when the program exits, so background processes end with it. If the
// program is killed, children in other process groups or sessions are killed as well; they are
// found by their HOOK_RUN, which works only on Linux. If the program exits by itself, such children
// keep running: a program can use setsid to leave a process running. On Linux, a program is also
// killed when this process dies, even by SIGKILL, but its children are not.
//
// # Platforms
//
// Programs run on Unix only. On other systems, [Find] and [Program.Run] return an error that wraps
// [errors.ErrUnsupported], since a program can't be killed with its children without process
// groups.
//
// # Concurrency
//
// A [Program] is not modified, and any number of goroutines may run it concurrently if its Stderr
// permits that. Each run occupies a thread.
package process
