// Package labels tracks what sessions have seen: the labels that hooks added to them. A [Table]
// is one replica's copy of all records. The registry stores the records, applies them to the
// tables of all replicas, and waits until every replica has applied them.
//
// Labels only grow, except for [Record.Without], which an approval requests. It removes what the
// session had when the person was asked: see [Table.After]. A session that claims a parent joins
// the parent's tree: all sessions of a tree share their labels. A claim can only join trees, never
// part them.
//
// Sessions of different proven senders never share a tree. A claim to another sender's session
// takes over its labels, now and later, but passes none back. An id does not say whose session it
// names: a sender that knows an id that another's sessions claim can label them, which at worst
// denies what would be permitted. Unproven sessions count as one sender's.
//
// A label of a proven sender's session also holds for all other sessions of that sender for a
// while ([Options.Memory]), so that a new session id does not escape it.
package labels
