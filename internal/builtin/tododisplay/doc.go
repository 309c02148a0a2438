// Package tododisplay is the builtin todo-display: it shows the user the agent's list
// of tasks whenever the agent changes it, and reminds the agent of it with each prompt.
//
//	hooks:
//	  - id: todo-display
//	    builtin:
//	      todo-display:
//	        mode: condensed
//
// It knows the todo tools of the agents that [events.Tool] knows. It gives the lists of
// all sessions to the channel session.todos.
package tododisplay
