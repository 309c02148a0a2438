// Package eventlog is the builtin event-log: it writes every event to a file, as one
// line of JSON, and begins a new file when one is large or old.
//
//	hooks:
//	  - id: event-log
//	    builtin:
//	      event-log:
//	        file: /var/log/hooks/events.jsonl
//	        keep: 14
//	        gzip: true
//
// A line is a CloudEvent in structured mode. Secrets in it are masked by
// [redact.Rules], unless data says otherwise. It is a log of one's own beside the
// router's audit log, which records decisions and can be verified; this one can be
// changed by all who may write the file.
//
// # Files
//
// New files are for their owner alone. A file that is full or old is renamed, with
// the time in its name. One process writes to one file: a second one on the machine,
// such as another replica, finds it locked and takes events.2.jsonl, a third one
// events.3.jsonl. Hooks of one process that name the same file share it.
//
// # Failure
//
// Lines wait in memory, for a second at most, and are written by a goroutine of their
// own; a slow disk delays no event. While the file can't be written, lines wait
// and each event is an error, which is counted as a failure of the hook; when too
// much waits, events are lost, and the error says so. What waits when the machine
// dies is lost: nothing here is synced.
package eventlog
