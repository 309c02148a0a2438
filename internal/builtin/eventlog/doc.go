// Package eventlog is the builtin event-log: it appends every event to a file as one line of JSON,
// and rotates the file by size and age.
//
//	hooks:
//	  - id: event-log
//	    builtin:
//	      event-log:
//	        file: /var/log/hooks/events.jsonl
//	        keep: 14
//	        gzip: true
//
// A line is a CloudEvent in structured mode. [redact.Rules] mask the secrets in it, unless the
// option data is none or full. This log does not replace the router's audit log, which records
// decisions and can be verified. Anyone with write access to the file can change this one.
//
// # Files
//
// Only the owner can read and write new files. A rotated file is renamed to a name with the time in
// it. Only one process writes to a file: a second process on the machine, such as another replica,
// finds it locked and uses events.2.jsonl, a third one events.3.jsonl. Hooks of one process with
// the same file share it.
//
// # Failure
//
// A separate goroutine writes the lines; they are buffered in memory for at most a second, so a
// slow disk does not delay events. While the file can't be written, lines stay in the buffer, and
// the hook returns an error for each event, which counts as a failure of the hook. When the buffer
// is full, events are lost, and the error says so. A crash of the machine loses the buffer and data
// that the system has not yet written to disk: the file is never synced.
package eventlog
