// Package datetime is the builtin date-time: it adds the current date and time to each prompt,
// since a model does not know them.
//
//	hooks:
//	  - id: date-time
//	    builtin:
//	      date-time:
//	        timezone: Europe/Berlin
package datetime
