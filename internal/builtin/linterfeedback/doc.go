// Package linterfeedback is the builtin linter-feedback: after an agent wrote a file it
// runs the linters of that kind of file, and tells the agent what is new among their
// findings, so that it can mend it in the same turn.
//
//	hooks:
//	  - id: linter-feedback
//	    builtin:
//	      linter-feedback:
//	        linters:
//	          - files: ["*.sh"]
//	            command: [shellcheck, -f, gcc, "{file}"]
//	            codes: [1]
//
// # What is new
//
// A finding is a line of a linter's output; the numbers in it that follow a space or
// one of ":(,[" don't count, so that it stays the same finding when it moves. Before
// the first change of a file in a session, the file is linted for what it has anyway.
// Each finding is told once. Linters should print a line for each finding.
//
// # Where it runs
//
// It must run beside the agent's files, and looks only at files below its root, links
// followed. A linter may obey settings that it finds there, plugins included, and a
// file may be replaced by a link while the linter starts: run the worker with no more
// rights than the agent has. Programs run as package command says.
package linterfeedback
