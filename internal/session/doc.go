// Package session is the coordinator's memory of an agent's session, shared by
// all replicas of the router: the turn, what it has used of its injection budget,
// the limits, and which approvals are remembered.
//
// A [State] is one key of a bucket. It is read from the store's leader, changed
// and written back with compare-and-set, so that two replicas never count the same
// tokens twice. It is touched only when something needs it: a turn that begins, an
// injection, a question, an end. For what an event merely reports, each replica
// follows the bucket ([Store.Used]), which may lag by a moment.
//
// A session that ended leaves its end behind, so that an answer that comes later
// is not remembered in its next life. A session that nobody touches for 30 days
// is forgotten.
package session
