// Package tododisplay is the builtin todo-display: it shows the user the agent's todo list whenever
// the agent changes it, and adds the list to each prompt.
//
//	hooks:
//	  - id: todo-display
//	    builtin:
//	      todo-display:
//	        mode: condensed
//
// It supports the todo tools of the agents that [events.Tool] supports. It contributes the lists of
// all sessions to the channel session.todos.
package tododisplay
