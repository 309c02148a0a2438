// Package sessionlogger is the builtin session-logger: it writes a line to the worker's
// log for each session that ended, with what the event says of it.
//
//	hooks:
//	  - id: session-logger
//	    builtin: session-logger
package sessionlogger
