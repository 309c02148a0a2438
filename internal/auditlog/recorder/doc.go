// Package recorder writes the audit log of one router process.
//
// # Group commit
//
// One batch of records is written at a time, as one message. Records that arrive meanwhile wait
// for the next batch, so durability costs one write for a batch, not for an event. A caller that
// finds no write in progress writes its own batch; [Writer.Run] writes the rest. A message is
// appended on the condition that the writer's last one is the last on its subject, and is sent
// again with the same id until the log acknowledges it. So the log holds each record once, in
// order and without a gap, and nobody else can write under this writer's name.
//
// # Audit before answer
//
// In [Strict] mode a decision waits for its records ([Writer.Record]), at most
// [Options].Timeout; without them it is not answered. In [Async] mode nothing waits. Records
// beyond the limit are dropped and counted, and the count is recorded once the log takes records
// again. [Off] writes nothing.
//
// # What a record holds of data
//
// [View] renders it: a salted digest, alone or with the data, masked or complete. The salts are
// in a bucket of their own, one for each session and router. Removing a session's salts makes
// its digests meaningless; the proofs over the log still hold.
package recorder
