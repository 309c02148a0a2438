// Package audit defines the audit log: its records, the tree over them, the signed
// checkpoints, and the offline proof, from a file alone, that nothing was changed.
//
// # The log
//
// A log consists of the messages of one stream, numbered from 1 without a gap. A
// message has one or more lines. Each is a JSON object, holds one record and ends
// with LF. [Record] writes them. A record may name its writer, a router process,
// and its number among that writer's records, so that lost ones show too.
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
// [Resume] continues a file. It holds lines byte for byte as the stream does. In a
// segment of [LineFormat] no checkpoint covers the time and the subject of a
// message. Everything else is fixed: a reader accepts only the exact form that
// [Writer] writes.
//
// # What verify proves
//
// [Verify] reads an export once, in constant memory. An export ends with a
// checkpoint over its last message; what no checkpoint covers is never OK.
//
// The router's key alone reveals every edit, loss, insertion and reordering between
// two checkpoints, and a missing checkpoint. It does not reveal messages cut off
// together with their checkpoints, or a history signed anew with that key. For these,
// compare with something seen elsewhere: the [Pin] of an earlier verification, or a
// head that a witness remembers ([Options].Heads). A witness's signature on the last
// checkpoint of the file says that it saw this history; only what it remembers now
// says that nothing came after.
//
// # Failure
//
// Whatever an export holds leads to a [Verdict], with line and reason. An error means
// that it could not be read, or that the options are invalid. Foreign bytes cause
// neither a panic nor unbounded memory: a line has at most [MaxLine] bytes.
//
// # Concurrency
//
// Functions may be called concurrently; a [Log], [Tree], [Writer] or [Reader] is
// used by one goroutine. Nothing here starts goroutines, or reads or writes anything
// but its arguments.
package audit
