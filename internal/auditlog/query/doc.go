// Package query reads the audit log: its records, the chains that they belong to, and its
// export.
//
// # Records
//
// [Decode] reads a line. A malformed line becomes a record with an error and is never skipped:
// an audit shows what it can't read. [Log.Query] and [Log.Follow] return records over all
// segments, [Log.Chains] groups them by chain.
//
// # Exports
//
// [Log.Export] writes a segment as an export file, with each checkpoint in its place, in memory
// that does not grow with the log. Nothing here trusts a checkpoint; [audit.Verify] proves what
// was written.
//
// # Failure
//
// Reading resumes after a short loss of the connection to NATS; after a longer one it ends with
// an error. Functions may be called concurrently. Callbacks are called by one goroutine at a
// time.
package query
