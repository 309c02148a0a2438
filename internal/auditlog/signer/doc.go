// Package signer signs the audit log: after each second in which the log grew, one router states
// its size and root in a signed checkpoint.
//
// Any router may sign. Each checks the log once a second; the one that signed last continues, the
// others stand by and take over when a log that grew has had no checkpoint for three seconds. A
// checkpoint names its predecessor and is appended on the condition that this is the last one, so
// there is one history, whichever router signs.
//
// The root is computed from the messages of the stream, read back in order, not from what a router
// believes it wrote. A router that takes over continues from the last checkpoint if that is signed
// with its own key; else it reads the segment from the beginning. If the log is not what was
// signed, or two checkpoints state different roots for one size, it raises an alarm and signs
// nothing more in this segment. Once an operator has closed the segment, signing continues with the
// next, in which the alarm is recorded again.
//
// # Formats
//
// The first checkpoint of a segment decides its format, see [audit.Format]. It is the latest
// once every router and every witness knows that: routers say so in the registry
// ([Options].Upgraded), witnesses with each checkpoint that they co-sign. A segment in a
// format that this version does not know is left to newer routers, without an alarm.
package signer
