// Package session keeps the state of agents' sessions, shared by all replicas of the router: the
// turn, the used injection budget, the limits and the "Allow always" grants.
//
// A [State] is one key of a bucket. It is read from the stream's leader, changed and written with
// compare-and-set, so that two replicas never spend the same tokens. Only changes access the store:
// the start of a turn, an injection, an approval, an end. For values that an event only reports,
// each replica follows the bucket ([Store.Used]), which may lag.
//
// An ended session keeps the time of its end, so that a late answer is not remembered for a new
// session with the same id. A session is dropped after 30 days without a write.
package session
