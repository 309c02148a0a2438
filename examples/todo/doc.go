// Package todo is an example hook that reminds the agent of what it set out to do:
// before each tool call it injects the open todos, for the next model call only.
//
// It learns them from the agent's own todo tool (TodoWrite, update_plan and the
// like), and forgets them when the session ends. What it learned is in its memory:
// run one instance, or give all of them the same source with [Options.Todos].
package todo
