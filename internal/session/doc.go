// Package session keeps the state of agents' sessions, shared by all replicas of the router: the
// turn, the used injection budget, the limits and the remembered approvals.
//
// A [State] is one key of a bucket. It is read from the store's leader, changed and written with
// compare-and-set, so that two replicas never spend the same tokens twice. Only changes touch
// the store: the start of a turn, an injection, an approval, an end. For values that an event
// merely reports, each replica follows the bucket ([Store.Used]), which may lag.
//
// An ended session leaves the time of its end, so that a late answer is not remembered for its
// next life. A session is dropped after 30 days without a write.
package session
