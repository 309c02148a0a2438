// Package approvalpolicy is the builtin approval-policy: an ordered list of rules determines which
// tool calls are allowed, which are denied, and which need approval. The first matching rule
// decides; if none matches, a person is asked.
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
// # Matching
//
// All conditions of a rule must match: one of its tools, and one each of its commands, paths and
// urls. A tool is a class (shell, file, web, mcp, agent, todo, other) or a glob for its name.
//
// A rule that allows must account for the whole call: each word and variable of each command, each
// path, each address. It never matches a call that can't be read, nor, by class, a tool with an
// unknown name. A rule that denies or asks matches if one command, path or address may match.
//
// If it is unknown what a call does, as with $X or python3 -c, every rule with commands that denies
// or asks may apply. Then a person is asked, unless a later rule that certainly matches denies the
// call.
package approvalpolicy
