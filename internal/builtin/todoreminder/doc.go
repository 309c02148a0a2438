// Package todoreminder is the builtin todo-reminder: it reminds the agent of its open tasks after a
// number of tool calls without a call of its todo tool.
//
//	hooks:
//	  - id: todo-reminder
//	    builtin:
//	      todo-reminder:
//	        every: 5
//
// The list is the one after the agent's last call of its todo tool. The reminder applies to the
// next model call only.
package todoreminder
