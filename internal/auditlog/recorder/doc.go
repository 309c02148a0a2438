// Package recorder writes the audit log of one router process.
//
// # Group commit
//
// One batch of records is written at a time, as one message. Records that arrive in the meantime
// wait for the next batch, so that durability costs one write for a batch instead of one for an
// event. If no write is in progress, the caller writes its own batch; [Writer.Run] writes the
// others. A message is appended on the condition that the writer's previous one is the last on its
// subject, and is sent again with the same id until the log acknowledges it. The log thus contains
// each record once, in order and without gaps, and a second writer under the same name is detected.
//
// # Audit before answer
//
// In [Strict] mode a decision waits for its records ([Writer.Record]), up to [Options].Timeout;
// without them it is not answered. In [Async] mode nothing waits. Records beyond the limit are
// dropped and counted, and the count is recorded once the log takes records again. [Off] writes
// nothing.
//
// # Data in records
//
// [View] renders data: a salted digest, alone or with the data, masked or complete. The salts have
// a bucket of their own, with one salt for each session and router. Removing a session's salts
// makes its digests meaningless; the proofs over the log remain valid.
package recorder
