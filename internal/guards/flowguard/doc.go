// Package flowguard is the builtin flow-guard: what a session has seen limits what it may
// do. It labels sessions that read a secret or third-party text, and asks or denies
// where such a session sends something out or changes what others rely on.
//
//	hooks:
//	  - id: flow-guard
//	    builtin:
//	      flow-guard:
//	        tools:
//	          untrusted: [search_*, read_*]
//	          egress: [send_*, post_*]
//	        secret: deny
//	        untrusted: ask
//
// # Labels
//
// secret-read is added where a tool reads a file that holds secrets, where a command prints
// some, and where a result looks like one; untrusted-input where third-party text comes
// in: from the web, an MCP server, or a tool or file that the options name. A label is added
// before the tool runs, so that the model has nothing to act on yet, and once more with the
// result. Labels of the router hold for the tree of sub-agents; the guard obeys those that
// other hooks add too.
//
// # What the user said
//
// A call passes without a question where the user's prompts of the session have each of its
// values, letter by letter and as whole words, and one of them is distinctive. Nothing is
// looked for in what tools returned: a value that was split, encoded, or spelt otherwise is
// simply not in a prompt, and the call is asked about. The same call passes once for each prompt. Prompts of
// sub-agents were written by an agent and count for nothing.
//
// # Failure
//
// It is a guard: where a call can't be read, or the prompts can't be, it asks or fails, and
// its on_failure, which is deny, holds.
package flowguard
