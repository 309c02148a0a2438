// Package progressmonitor is the builtin progress-monitor: it notices an agent that reads and
// searches and changes nothing, and tells the agent and its user.
//
//	hooks:
//	  - id: progress-monitor
//	    builtin:
//	      progress-monitor:
//	        read_threshold: 30
//
// Reads are counted since the last write, or since the user's last prompt, whichever is
// later. A shell is neither: whether its command reads or writes is unknown.
//
// It gives the counts of all sessions to the channel session.metadata.
package progressmonitor
