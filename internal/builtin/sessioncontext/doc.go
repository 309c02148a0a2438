// Package sessioncontext is the builtin session-context: it tells the agent once in
// each session what it should know from the start, from the worker file, from files,
// and from a command.
//
//	hooks:
//	  - id: session-context
//	    builtin:
//	      session-context:
//	        text: Answer in English. The staging system is stage.example.org.
//	        files: [CONVENTIONS.md, "docs/rules/*.md"]
//
// It tells it again when the context was compacted. Files are read at that moment, and
// never from outside their directory, whatever links are in it.
package sessioncontext
