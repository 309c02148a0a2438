// Package stoploop is the builtin stop-loop: it stops an agent that calls the same tool with the
// same input again and again, or alternates between a few calls.
//
//	hooks:
//	  - id: stop-loop
//	    builtin:
//	      stop-loop:
//	        hint: 3
//	        deny: 5
//
// First the agent gets a hint, then the call is denied until the agent does something else or the
// user sends a prompt. Calls are the same if their tool and input are the same, or, for a shell,
// the command and the directory. Calls that poll a shell, such as BashOutput or a shell tool
// without a command, and calls of todo tools may repeat.
//
// # Agents that can't stop
//
// A hook that denies prompt:complete keeps the agent working; several such turns in a row are a
// loop, too. No hook can revoke the denial of another one. So from the fourth stop since the last
// prompt (option stops), this hook notifies the user, and sets stop_hook_active to true and
// loop_count to the number of stops in the event's data. Later hooks that check these members, as
// scripts for Claude Code do, then let the agent stop.
//
// # Failure
//
// stop-loop is a guard: if the previous calls can't be read, it fails, and its on_failure applies,
// which is deny by default. Prompts and stops still pass: denying a stop would itself cause a loop.
package stoploop
