// Package builtinhook is the hook kind builtin, for the hooks that come with hook-worker. The
// section names one of them, alone or with its options.
//
//	builtin: date-time
//
//	builtin:
//	  date-time:
//	    timezone: Europe/Berlin
package builtinhook
