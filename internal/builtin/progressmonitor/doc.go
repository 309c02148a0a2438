// Package progressmonitor is the builtin progress-monitor: it detects an agent that reads and
// searches without changing anything, and reminds the agent and its user.
//
//	hooks:
//	  - id: progress-monitor
//	    builtin:
//	      progress-monitor:
//	        read_threshold: 30
//
// Reads are counted since the last write or the user's last prompt, whichever is later. A shell
// command counts as neither a read nor a write, since its effect is unknown.
//
// The hook contributes the counts of all sessions to the channel session.metadata.
package progressmonitor
