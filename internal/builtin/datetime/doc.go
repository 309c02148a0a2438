// Package datetime is the builtin date-time: it tells the agent what time it is
// whenever the user submits a prompt, which a model does not know.
//
//	hooks:
//	  - id: date-time
//	    builtin:
//	      date-time:
//	        timezone: Europe/Berlin
package datetime
