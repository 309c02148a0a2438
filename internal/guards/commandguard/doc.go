// Package commandguard is the builtin command-guard: it judges what a shell is about
// to run. Known harm is denied, what may be meant so is asked about, and so is what
// can't be decided; all else passes.
//
//	hooks:
//	  - id: command-guard
//	    builtin:
//	      command-guard:
//	        deny: ["terraform destroy*"]
//	        ask: ["git push", "npm publish"]
//	        allow: ["git push origin feature/*", "python3 -c *"]
//	        undecidable: ask
//
// # What it looks at
//
// Every command of the line, as package shell finds them: within pipes, $(…) and
// sh -c, behind sudo, env and xargs. One that is denied denies the line; else one
// that is asked about asks about it.
//
// # Order
//
// For each command the file goes before what is built in, and deny before ask before
// allow. A pattern of deny and ask is found wherever it may be meant: its options in
// any order, joined or shortened, its other words in their order. One of allow has
// to account for the whole command, word by word; a * at its end stands for any more.
// So "git push --force" finds git -C x push origin -f only with another pattern for
// -f, and "git status" doesn't allow git -c core.pager=sh status.
//
// # What it can't know
//
// It is no sandbox. A script in a file, a Makefile or a program may do anything.
package commandguard
