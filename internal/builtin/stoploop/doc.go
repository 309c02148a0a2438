// Package stoploop is the builtin stop-loop: it stops an agent that calls the same tool
// with the same input again and again, or goes back and forth between a few calls.
//
//	hooks:
//	  - id: stop-loop
//	    builtin:
//	      stop-loop:
//	        hint: 3
//	        deny: 5
//
// First the agent gets a hint, then the call is denied, until it does something else or the
// user says something. Calls are the same where their tool and input are; for a shell, its
// command and directory. Tools that ask how far something is (BashOutput, and a shell
// tool without a command) and lists of tasks may repeat.
//
// # Agents that are not let stop
//
// A hook of prompt:complete that denies keeps the agent working; a few such turns in a
// row are a loop, too. No hook can take another one's denial back. So from the fourth stop
// since the last prompt on (option stops) this one tells the user, and sets
// stop_hook_active to true and loop_count to the number in the event's data: hooks that
// come later and look there let the agent go, as scripts for Claude Code do.
//
// # Failure
//
// It is a guard: where what was called before can't be read it fails, and its on_failure,
// which is deny, holds. Prompts and stops are let pass then: a stop that is denied would
// be the loop itself.
package stoploop
