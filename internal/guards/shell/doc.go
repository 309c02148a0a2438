// Package shell says which commands a line of shell runs, without running it. The
// guards among the builtins judge what it finds.
//
// [Parse] reads the line as bash does and lists each [Command]: of pipes and lists,
// subshells, functions, aliases and traps, of $(…), `…` and <(…), and those that
// another command is given to run (sh -c, sudo, env, xargs, find -exec, eval, …).
// A command that runs another is in the list as well as the other.
//
// # What it cannot know
//
// A value that is known only when the line runs makes a [Word] that is not Known.
// Where that decides what runs, or where a program is given code in another
// language, a [Doubt] says so. A line without doubts runs the listed commands and
// no others, as far as its own text tells: what is inside a program, a script in a
// file or a Makefile is not looked at.
//
// Its patterns lean to the safe side: [Pattern.In] finds a pattern in a command
// wherever it may be meant, and [Pattern.Covers] holds only where every word is
// accounted for.
//
// Everything here is a pure function of its arguments, bounded by [MaxLine],
// [MaxCommands] and [MaxDepth].
package shell
