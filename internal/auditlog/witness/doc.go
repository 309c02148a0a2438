// Package witness follows an audit log from outside, and co-signs its checkpoints as long
// as the log only grows.
//
// # What a signature says
//
// A witness reads every message itself, builds the tree over them, and compares each
// signed checkpoint with it: signature, root, the heads of the writers, and that it
// names the one before as its predecessor. It signs one history only: a checkpoint is in
// its state file, on disk, before its signature is published. So two histories with one
// witness's signature need that witness's key, and the router's key alone cannot revoke
// what was witnessed.
//
// A witness must be independent of the log: another machine, another NATS user, another
// disk, another operator.
//
// # Segments
//
// The witness follows the checkpoints of all segments in the order of their stream. It
// moves on to the next segment once the current one is sealed and signed to its end, and
// the next one's first checkpoint names its last.
//
// # Failure
//
// Tampering ends in a [Refusal]: another root, a smaller log, a removed message, an
// invalid record, a missing checkpoint. The proof is written beside the state, and the
// witness signs nothing more, also after a restart, until a person removes that file.
// What may only be a lagging replica is checked again for [Options].Grace. A lost NATS connection is waited for.
//
// A state file that was lost or restored from a backup does not make the witness sign a
// second history as long as the log still holds what it published: the history must
// contain that again.
//
// # Concurrency
//
// A [Witness] is used by one goroutine. Two processes with one key detect each other by
// the revision of what they publish, and the second stops.
package witness
