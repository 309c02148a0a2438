// Package shell finds the commands that a line of shell runs, without running it. The builtin
// guards evaluate the result.
//
// [Parse] reads the line as bash does and lists each [Command]: those in pipes and lists,
// subshells, functions, aliases and traps, those in $(…), `…` and <(…), and those that another
// command is given to run (sh -c, sudo, env, xargs, find -exec, eval, …). A command that runs
// another one is listed as well.
//
// # Limits
//
// A value that is known only at run time makes a [Word] that is not Known. If such a value decides
// what runs, or if a program is given code in a language that is not analyzed, a [Doubt] says so. A
// line without doubts runs the listed commands and no others, as far as its own text shows: the
// contents of programs, script files and Makefiles are not analyzed.
//
// Patterns err on the side of caution: [Pattern.In] finds a pattern in a command wherever it may
// apply, and [Pattern.Covers] is true only if every word is accounted for.
//
// All functions are pure, and bounded by [MaxLine], [MaxCommands] and [MaxDepth].
package shell
