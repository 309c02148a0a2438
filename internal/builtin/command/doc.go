// Package command runs the programs that builtins need: git, a linter, what shows a
// notification. It is for a few lines of output; the hook kind exec is for commands
// that answer.
//
// # Processes
//
// A program gets no standard input, the variables of [execkind.DefaultEnv] and what
// the caller adds. It leads a process group of its own, which is killed when the
// context is over, when it printed too much, and when it has ended.
//
// # Concurrency
//
// A [Command] is read-only and may be run by any number of goroutines at once.
package command
