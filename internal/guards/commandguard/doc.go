// Package commandguard is the builtin command-guard: it evaluates shell commands before they run.
// It denies known harmful commands, asks about possibly harmful ones and about those that it can't
// decide, and allows all others.
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
// # Scope
//
// Every command of the line, as package shell finds them: in pipes, $(…) and sh -c, and after sudo,
// env and xargs. One denied command denies the line; otherwise one that needs approval makes the
// guard ask about the line.
//
// # Order
//
// For each command, the configuration takes precedence over the built-in rules, and deny over ask
// over allow. A pattern of deny and ask applies to all spellings of a command: its options in any
// order, combined or abbreviated, its other words in order. A pattern of allow must account for the
// whole command, word by word; a * at its end matches any further words. So "git push --force" does
// not match git -C x push origin -f, which needs another pattern for -f, and "git status" doesn't
// allow git -c core.pager=sh status.
//
// # Limits
//
// It is not a sandbox. A script file, a Makefile or a program may do anything.
package commandguard
