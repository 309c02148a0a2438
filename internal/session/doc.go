// Package session is the state of an agent's session, shared by all replicas of the router:
// the turn, what it has used of its injection budget, the limits, and which approvals are
// remembered.
//
// A [State] is one key of a bucket. It is read from the store's leader, changed and written
// back with compare-and-set, so that two replicas never count the same tokens twice. Only
// what changes it touches it: a turn that begins, an injection, an approval, an end. For
// what an event merely reports, each replica follows the bucket ([Store.Used]), which may
// lag for a moment.
//
// A session that ended leaves the time of its end behind, so that an answer that comes later
// is not remembered in its next life. A session that nothing touches for 30 days is dropped.
package session
