// Package labels tracks the labels that hooks add to sessions. A [Table] is one replica's copy of
// all records. The registry stores the records, applies them to the tables of all replicas, and
// waits until every replica has applied them.
//
// Labels only grow, except for [Record.Without], after an approval: it removes labels that the
// session had when the person was asked (see [Table.After]). A session that claims a parent joins
// the parent's tree, and all sessions of a tree share their labels. Claims can only join trees,
// never split them.
//
// Sessions of different proven senders never share a tree. A claim to another sender's session
// takes over its labels, now and later, but passes none back. An id does not say whose session it
// names: a sender that knows an id which sessions of another sender claim can label those sessions.
// At worst this denies what would be permitted. All unproven sessions belong to one sender.
//
// A label of a proven sender's session also applies to all other sessions of that sender for some
// time ([Options.Memory]), so that a new session id does not avoid it.
package labels
