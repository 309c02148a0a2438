// Package approvalpolicy is the builtin approval-policy: an ordered list of rules
// says which tool calls pass, which are denied, and which a person is asked about.
// The first rule that matches decides; where none does a person is asked.
//
//	hooks:
//	  - id: approval-policy
//	    builtin:
//	      approval-policy:
//	        rules:
//	          - tools: [todo, Read]
//	            decision: allow
//	          - tools: [shell]
//	            commands: ["go test *", "git status"]
//	            decision: allow
//	          - tools: [web]
//	            urls: ["https://*.example.com/*"]
//	            decision: allow
//	          - tools: ["mcp__*"]
//	            decision: deny
//	            reason: servers of others are not used here
//	        default: ask
//
// # What matches
//
// Of a rule everything that it gives has to match: one of its tools, and one of its
// commands, paths and urls each. A tool is a class (shell, file, web, mcp, agent,
// todo, other) or a glob for its name.
//
// A rule that allows has to account for all of the call: each command of a line, in
// every word and variable; each path; each address. It doesn't hold for what can't be read, nor
// by class for a tool whose name is not known. A rule that denies or asks holds where
// one command, path or address may be meant.
//
// Where it can't be known what a call does, as with $X or python3 -c, each rule with
// commands that denies or asks may be meant: a person is asked, unless a later rule
// that certainly matches denies the call.
package approvalpolicy
