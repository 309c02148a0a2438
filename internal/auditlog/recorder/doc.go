// Package recorder writes the audit log of one router process.
//
// # Group commit
//
// One batch of records is written at a time, as one message, and what comes meanwhile
// waits together for the next: durability costs one write of the store for a batch, not
// for an event. Who comes when nothing is under way writes its own; the rest is written
// by [Writer.Run]. A message is appended on the condition that
// the writer's last one is the last on its subject, and it is sent again with the
// same id until the log has acknowledged it; so the log holds each record once, in
// order and without a gap, and nobody else can write as this writer.
//
// # Audit before answer
//
// In [Strict] mode who decided something waits for its records ([Writer.Record]),
// at most [Options].Timeout: what the log did not take in time is not answered. In
// [Async] mode nobody waits; records beyond the limit are dropped and counted, and the number is
// recorded when there is room again. [Off] writes nothing.
//
// # What a record holds of data
//
// [View] makes it: a salted digest, and the data with its secrets masked, or all of it,
// or nothing more. The salts stand in a bucket of their own, one for a session and a
// router. Who empties the bucket, or removes a session's salts, makes the digests mean
// nothing, and the proofs over the log still hold.
package recorder
