// Package audit defines the audit log: its records, the tree over them, the signed checkpoints, and
// the offline verification of an exported file.
//
// # The log
//
// A log consists of the messages of one stream, numbered from 1 without gaps. A message has one or
// more lines. Each line is a JSON object with one record, and ends with LF. [Record.Append] writes
// them. A record may name its writer, a router process, and its number among that writer's records,
// so that lost records are detected.
//
// # The tree
//
// The leaf of a message is an RFC 6962 hash over the SHA-256s of its head and of its lines, so that
// the proof of one line reveals only hashes of its neighbors. The head is the stored time and the
// subject; segments of [LineFormat] leave it out. The first checkpoint of a segment names its
// [Format]. The tree over the leaves, in the order of the stream, is that of
// golang.org/x/mod/sumdb/tlog. [Log] follows a stream in constant memory. A [Checkpoint] states
// size and root and refers to its predecessor and to the last record of each writer. It is a signed
// note (golang.org/x/mod/sumdb/note), to which witnesses add signatures with [Cosign].
//
// # The export
//
// [Writer] writes messages and checkpoints to a file, [Reader] reads them, [Resume] continues a
// file. Lines are byte for byte as in the stream. In segments of [LineFormat], no checkpoint covers
// the time and the subject of a message. A reader accepts only the exact form that [Writer] writes.
//
// # What verification proves
//
// [Verify] reads an export once, in constant memory. An export must end with a checkpoint over its
// last message: records that no checkpoint covers never verify as OK.
//
// The router's key alone reveals every change, loss, insertion and reordering between two
// checkpoints, and a missing checkpoint. It does not reveal that messages were cut off together
// with their checkpoints, or that a history was signed again with that key. To detect these,
// compare with a head from elsewhere: the [Pin] of an earlier verification, or a head that a
// witness remembers ([Options].Heads). A witness's signature on the last checkpoint of the file
// proves that the witness saw this history; only the witness's current head proves that nothing
// followed.
//
// # Failure
//
// Any content of an export leads to a [Verdict] with line and reason. An error means that the
// export could not be read, or that the options are invalid. Untrusted input causes neither panics
// nor unbounded memory: a line has at most [MaxLine] bytes.
//
// # Concurrency
//
// Functions are safe for concurrent use. A [Log], [Tree], [Writer] or [Reader] is not. Nothing in
// this package starts goroutines, or does I/O other than on its arguments.
package audit
