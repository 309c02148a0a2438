// Package trail is where the audit log stands in NATS.
//
// # Segments
//
// The log of a prefix is one stream after the other, each append-only: <PREFIX>_AUDIT,
// then <PREFIX>_AUDIT_2 and so on. The last, the live one, listens on
// <prefix>.audit.>; those before are sealed. An operator seals; whoever may create
// streams makes the next. An operator may remove the oldest once it is sealed, so
// numbers that are missing between others are nobody's right.
//
//	<prefix>.audit.w.<writer>      records of one router process, several in a message
//	<prefix>.audit.decision.<id>   the decision on a question, one record
//
// # Decisions across segments
//
// A question names the segment that was live when it was asked. It is decided by the
// first message on its subject in that segment; if that segment is sealed without one,
// by the first in the next, and so on. A sealed segment takes nothing more, so what
// it says is final, and there is one decision however segments change meanwhile.
//
// # Checkpoints
//
// They stand in a stream of their own, <PREFIX>_CHECKPOINTS, append-only too:
//
//	<prefix>.checkpoint.<segment>             JSON: the signed checkpoint, and the subtrees to go on from
//	<prefix>.cosigned.<segment>.<witness>     a checkpoint with a witness's signature, as a note
//
// The next checkpoint is appended on the condition that the one it names as its
// predecessor is the last: of many routers, one succeeds.
package store
