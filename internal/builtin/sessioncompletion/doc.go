// Package sessioncompletion is the builtin session-completion: it tells the user how many
// turns the agent took, and how long, when its orchestrator is done.
//
//	hooks:
//	  - id: session-completion
//	    builtin: session-completion
package sessioncompletion
