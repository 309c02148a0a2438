// Package sessioncompletion is the builtin session-completion: it shows the user the number of
// turns and the duration when an orchestrator completes.
//
//	hooks:
//	  - id: session-completion
//	    builtin: session-completion
package sessioncompletion
