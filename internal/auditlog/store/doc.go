// Package store keeps the audit log in NATS: its segments, its checkpoints, and the decisions on
// approval requests.
//
// # Segments
//
// The log of a prefix is a sequence of append-only streams: <PREFIX>_AUDIT, then
// <PREFIX>_AUDIT_2 and so on. The last one, the live segment, listens on <prefix>.audit.>;
// those before it are sealed. An operator seals a segment; whoever may create streams
// creates the next. An operator may remove the oldest sealed segments, so a number that is
// missing between others is a loss.
//
//	<prefix>.audit.w.<writer>      records of one router process, several in a message
//	<prefix>.audit.decision.<id>   the decision on an approval request, one record
//
// # Decisions across segments
//
// An approval request names the segment that was live when it was made. It is decided by the first
// message on its subject in that segment; if that segment was sealed without one, by the first in
// the next, and so on. A sealed segment takes no messages, so its content is final: there is one
// decision, however often segments change.
//
// # Checkpoints
//
// They are in an append-only stream of their own, <PREFIX>_CHECKPOINTS:
//
//	<prefix>.checkpoint.<segment>             JSON: the signed checkpoint, and the subtrees to continue from
//	<prefix>.cosigned.<segment>.<witness>     a checkpoint with a witness's signature, as a note
//
// A checkpoint is appended on the condition that its predecessor is the last one: of many
// routers that try, one succeeds. A co-signed checkpoint has the header [FormatHeader].
package store
