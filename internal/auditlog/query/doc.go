// Package query reads the audit log: its records, the chains that they belong to, and its
// export.
//
// # Records
//
// [Decode] reads a line; what is no record is one with an error, and is never passed
// over: an audit shows what it can't read. [Log.Query] and [Log.Follow] give records
// over all segments, [Log.Chains] puts those of a chain together.
//
// # Exports
//
// [Log.Export] writes a segment as an export file, each checkpoint at its place, in
// memory that does not grow with the log. Nothing here trusts a checkpoint: what
// proves is [audit.Verify], on what was written.
//
// # Failure
//
// Reading goes on where it was after the connection to NATS was lost for a moment; after
// a longer time it ends with an error. Functions may be called concurrently; what they
// call is called by one goroutine at a time.
package query
