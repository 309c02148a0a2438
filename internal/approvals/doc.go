// Package approvals is the desk: the open questions that all replicas of the
// router share, and the one decision that ends each.
//
// # Where things stand
//
// A question is one key of the bucket <prefix>_approvals, written once, before
// anyone is asked, by whoever comes first ([Desk.Ask]): the key is made of the
// event's identity, so the same event has one question however often and to
// whichever replica it is sent. The store keeps it for a day beyond its deadline.
//
// A decision is one message of the audit stream, on
// <prefix>.audit.decision.<id>, appended on the condition that there is none yet.
// People, the time-out, rules: all decide by that one append, and what the stream
// holds is what was decided. Nothing is decided by reading first.
//
// # How a replica keeps up
//
// It follows the bucket for questions and the stream for decisions, and may see
// either first. It tells those who wait here ([Desk.Await]) what the stream says,
// whoever appended it. A question whose deadline has come is decided by every
// replica that knows it; one of them wins. The deadline stands in the question, so
// no restart moves it.
//
// # What waits
//
// A waiting agent costs an entry in a table and in a heap of times: no goroutine
// and no slot of the router's requests. A fixed number of goroutines decide, read
// and answer. Questions are bounded in all and for a session.
package approvals
