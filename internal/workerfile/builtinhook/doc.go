// Package builtinhook is the kind of hook that comes with hook-worker: the section
// builtin names one of them, alone or with its options.
//
//	builtin: date-time
//
//	builtin:
//	  date-time:
//	    timezone: Europe/Berlin
package builtinhook
