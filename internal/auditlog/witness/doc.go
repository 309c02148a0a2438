// Package witness follows an audit log from outside and co-signs its checkpoints as long as the log
// only grows.
//
// # What a signature proves
//
// A witness reads every message itself, builds the tree over them, and checks each signed
// checkpoint against it: the signature, the root, the writers' last records, and the predecessor.
// It signs only one history: a checkpoint is in its state file, on disk, before its signature is
// published. Two histories with the signature of one witness therefore need that witness's key, and
// the router's key alone cannot revoke what was witnessed.
//
// A witness must be independent of the log: another machine, NATS user, disk and operator.
//
// # Segments
//
// The witness follows the checkpoints of all segments in the order of their stream. It moves on to
// the next segment once the current one is sealed and completely signed, and the next one's first
// checkpoint refers to its last.
//
// # Failure
//
// Tampering results in a [Refusal]: another root, a smaller log, a removed message, an invalid
// record, a missing checkpoint. The witness writes the proof next to the state file and signs
// nothing more, even after a restart, until a person removes that file. Problems that a lagging
// replica can explain are checked again for [Options].Grace. The witness waits for a lost NATS
// connection.
//
// A witness whose state file was lost or restored from a backup does not sign a second history, as
// long as the log still holds what it published: the history must contain that.
//
// # Concurrency
//
// A [Witness] is not safe for concurrent use. If two processes use the same key, the second one
// notices by the revision of what it publishes, and stops.
package witness
