// Package witness remembers an audit log from outside, and co-signs what it has seen
// grow honestly.
//
// # What a signature says
//
// A witness reads every message itself, builds the tree over them, and compares each
// signed checkpoint with it: signature, root, the heads of the writers, and that it
// names the one before as its predecessor. It signs one history only: what it is about
// to sign stands in its state file, on disk, before anybody else gets to see it. So
// two histories with one witness's signature need that witness's key, and whoever has
// the router's key alone can't take back what was witnessed.
//
// It is worth as much as it is apart from the log: another machine, another NATS user,
// another disk, another person.
//
// # Segments
//
// The witness goes through the checkpoints of all segments in the order of their
// stream. It leaves a segment when that is sealed and signed to its end, and the first
// checkpoint of the next names the last of this one.
//
// # Failure
//
// What must not be ends in a [Refusal]: another root, a smaller log, a removed message,
// an invalid record, a checkpoint that was left out. The notes that prove it are put
// beside the state, nothing is signed any more, and that holds over restarts until a
// person removes that file. What only looks like a loss, since a replica may lag, is
// looked at again for [Options].Grace. A lost NATS connection is waited for.
//
// A state file that was set back, or lost, does not make the witness sign a second
// history as long as the log still holds what it published: it must be met again.
//
// # Concurrency
//
// A [Witness] is used by one goroutine; two processes with one key find each other out
// by the revision of what they publish, and the second stops.
package witness
