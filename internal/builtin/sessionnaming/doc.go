// Package sessionnaming is the builtin session-naming: it gives each session a name and a
// description derived from the user's prompts.
//
//	hooks:
//	  - id: session-naming
//	    builtin:
//	      session-naming:
//	        max_name_length: 40
//
// # Choosing a name
//
// The first meaningful prompt names the session. The name is its first sentence without greetings,
// courtesies, code and URLs, cut between words. Prompts such as "hi" and "yes, go on" are skipped.
// Known forms of secrets are masked.
//
// A command can choose a better name, for example by asking a model:
//
//	session-naming:
//	  command:
//	    command: [./name-session.py]
//
// It gets the event as an exec hook does. The member naming of the data has the name and the
// description so far, the number of turns, and some of the prompts, cut. It prints a result whose
// data has name and description:
//
//	{"action":"modify","data":{"name":"Fix the login","description":"…"}}
//
// If it fails or omits one of them, the previous one stays.
//
// # Cost
//
// The hook registers in mode observe, so prompts do not wait for it.
//
// The hook contributes the names of all sessions to the channel session.metadata.
package sessionnaming
