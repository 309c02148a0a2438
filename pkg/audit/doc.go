// Package audit is what is remembered: the records of the audit log, the tree
// over them, the signed checkpoints, and the proof, on a file and with no access
// to the system, that nothing was changed.
//
// # The log
//
// A log is the messages of one stream, sequence 1, 2, 3 and so on without a gap. A
// message is one or more lines, each a JSON object and one record, each ended by
// one LF. [Record] writes them. A record may name its writer, a router process,
// and counts that writer's records from 1, so that a writer's loss shows too.
//
// # The tree
//
// The leaf of a message is the RFC 6962 hash of the SHA-256s of its head and of its
// lines, so that a proof of one line shows hashes of its neighbours and no content. The
// head is the stored time and the subject; a segment of [LineFormat] leaves it out. A
// segment has the [Format] that its first checkpoint names. The tree is
// that of golang.org/x/mod/sumdb/tlog over the leaves in the order of the stream.
// [Log] follows a stream in constant memory. A [Checkpoint] states size and root,
// names its predecessor and the head of each writer, and is a signed note
// (golang.org/x/mod/sumdb/note); a witness adds its signature with [Cosign].
//
// # The export
//
// [Writer] writes messages and checkpoints to a file, [Reader] reads them,
// [Resume] goes on with a file. Lines stand in it as they are in the stream, byte
// for byte. In a segment of [LineFormat] no checkpoint covers the time and the subject of a
// message. Nothing else is free: an export has the one spelling in which [Writer] writes
// it, and a reader takes no other.
//
// # What verify proves
//
// [Verify] reads an export once, in constant memory. An export ends with a
// checkpoint over its last message; what a checkpoint does not cover is never OK.
//
// With the router's key alone, every edit, loss, insertion and change of order
// between two checkpoints is found, and so is a checkpoint that was left out.
// Two things are not: messages cut off together with their checkpoints, and a
// history signed anew by whoever has the router's key. They are found with
// something seen elsewhere: the [Pin] of an earlier verification, or a head that
// a witness remembers ([Options].Heads). A witness's signature on the last
// checkpoint of the file says that the witness saw this history; only what it
// remembers now says that nothing came after it.
//
// # Failure
//
// What an export holds ends in a [Verdict], with line and reason. An error means
// that it could not be read, or that the options are unusable. Foreign bytes
// cause no panic and no unbounded memory: a line has at most [MaxLine] bytes.
//
// # Concurrency
//
// Functions may be called concurrently; a [Log], [Tree], [Writer] or [Reader] is
// used by one goroutine. Nothing here starts one, and only what is given is read
// or written.
package audit
