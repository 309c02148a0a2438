// Package approvals keeps the approval requests that all replicas of the router share, and
// makes the one decision that ends each.
//
// # Storage
//
// An approval request is one key of the bucket <prefix>_approvals, written once, before
// anyone is asked, by whoever comes first ([Service.Ask]). Its key is made of the event's
// identity, so the same event has one request however often and to whichever replica it is
// sent. The store keeps it for a day beyond its deadline.
//
// A decision is one message of the audit stream, on <prefix>.audit.decision.<id>, appended
// on the condition that there is none yet. People, the timeout and rules all decide by that
// one append, and what the stream holds is what was decided. Nothing is decided by reading
// first.
//
// # Replication
//
// Each replica follows the bucket for requests and the stream for decisions, and may see
// either first. It notifies those who wait on it ([Service.Await]) of what the stream says,
// whoever appended it. Every replica that knows a request decides it at its deadline, and
// one of them wins. The deadline is part of the request, so no restart moves it.
//
// # Backpressure
//
// A waiting agent costs an entry in a table and one in a heap of times: no goroutine and no
// slot of the router's limiter. A fixed number of goroutines decide, read and answer. The
// number of requests is bounded in all and for each session.
//
// # Failure
//
// Every error has a code of package wire: [wire.Unavailable] means that nothing was decided
// and the same call may be sent again.
package approvals
