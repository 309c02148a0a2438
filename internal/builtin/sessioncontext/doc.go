// Package sessioncontext is the builtin session-context: it adds context once per session, at its
// start: text from the worker file, from files, and from a command.
//
//	hooks:
//	  - id: session-context
//	    builtin:
//	      session-context:
//	        text: Answer in English. The staging system is stage.example.org.
//	        files: [CONVENTIONS.md, "docs/rules/*.md"]
//
// It adds the context again after a compaction. Files are read each time, and never from outside
// their directory, even through symbolic links.
package sessioncontext
