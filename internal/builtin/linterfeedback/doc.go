// Package linterfeedback is the builtin linter-feedback: after an agent changed a file, it runs the
// linters for that file and reports new findings to the agent, so that it can fix them in the same
// turn.
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
// # New findings
//
// A finding is a line of a linter's output. Numbers at its start or after a space or one of ":(,["
// are ignored, so that it stays the same finding when it moves to another line. Before the first
// change of a file in a session, the file is linted for the findings that it already has. Each
// finding is reported once. Linters should print one line per finding.
//
// # Where it runs
//
// It must run on the machine that has the agent's files. It lints only files below its root, after
// resolving symbolic links. A linter may load configuration and plugins from there, and a file may
// be replaced by a link while the linter starts: run the worker with no more permissions than the
// agent has. Programs run as package process describes.
package linterfeedback
