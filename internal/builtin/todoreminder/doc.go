// Package todoreminder is the builtin todo-reminder: it reminds the agent of its open
// tasks when it has used tools for a while without a look at its list.
//
//	hooks:
//	  - id: todo-reminder
//	    builtin:
//	      todo-reminder:
//	        every: 5
//
// The list is the one that the agent last gave to its todo tool. The reminder is for the
// next model call only.
package todoreminder
