// Package labels knows what sessions have seen: the labels that hooks added to them. A
// [Table] is one replica's copy of all records; the registry stores the records, applies
// them to the tables of all replicas, and waits until every replica has.
//
// Labels only grow, but for [Record.Without], which an approval asks for. A record of a
// session that claims to be below another joins both to one tree: what one session of a
// tree has seen, all have. A claim can only add: it joins trees and never parts them.
//
// Sessions of different proven senders are never one tree. A claim to a session of somebody
// else takes its labels over, now and later, and gives none back: nobody labels the sessions
// of others. Where no connection proves who sends, there is nobody else.
//
// What a session of a proven sender has seen holds for a while for all of that sender's
// sessions ([Options.Memory]), so that a new session id escapes nothing.
package labels
