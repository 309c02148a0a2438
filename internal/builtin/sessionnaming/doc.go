// Package sessionnaming is the builtin session-naming: it gives each session a name and a
// description, made of what the user asked for.
//
//	hooks:
//	  - id: session-naming
//	    builtin:
//	      session-naming:
//	        max_name_length: 40
//
// # How a name is found
//
// The first prompt that says something names the session: its first sentence without
// greetings, courtesies, code and addresses, cut between words. "hi" and "yes, go on" say
// nothing. Known forms of secrets are masked.
//
// A command may do better, by asking a model:
//
//	session-naming:
//	  command:
//	    command: [./name-session.py]
//
// It reads the event as an exec hook does, with the member naming in its data: the name
// that was found, and the prompts so far, cut. It prints a result whose data has name
// and description: {"action":"modify","data":{"name":"Fix the login","description":"…"}}. Where it fails, or
// leaves one out, what was found stays.
//
// # Cost
//
// The hook registers in mode observe: no prompt waits for it.
//
// It gives the names of all sessions to the channel session.metadata.
package sessionnaming
