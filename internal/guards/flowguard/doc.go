// Package flowguard is the builtin flow-guard: what a session has read limits what it may do. It
// labels sessions that read a secret or third-party text, and asks or denies if such a session
// sends something out or changes something that others rely on.
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
// The guard adds secret-read if a tool reads a file with secrets, if a command prints secrets, and
// if a result looks like a secret. It adds untrusted-input if third-party text comes in: from the
// web, an MCP server, or a tool or file that the options name. Labels are added before the tool
// runs, so that the model can't act on the content before, and again with the result. The router's
// labels apply to the tree of sub-agents; the guard also respects labels that other hooks add.
//
// # User prompts
//
// A call is allowed without a question if the user's prompts in the session contain each of its
// values, verbatim and as whole words, and one of them is distinctive. The results of tools are not
// considered: a value that was split, encoded or spelled differently is not in a prompt, so the
// guard asks. The same call is allowed once for each prompt. Prompts of sub-agents are written by
// an agent and do not count.
//
// # Failure
//
// The guard fails closed: if it can't read a call or the prompts, it asks or returns an error, and
// its on_failure applies, which is deny.
package flowguard
