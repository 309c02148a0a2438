// Package sessionlogger is the builtin session-logger: it logs a line to the worker's log for each
// session that ended, with the statistics in the event.
//
//	hooks:
//	  - id: session-logger
//	    builtin: session-logger
package sessionlogger
