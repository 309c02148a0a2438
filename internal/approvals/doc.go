// Package approvals keeps the approval requests that all replicas of the router share, and
// makes the one decision that ends each.
//
// # Storage
//
// An approval request is one key of the bucket <prefix>_approvals, created once, before anyone is
// asked, by the first replica that gets the event ([Service.Ask]). Its key is derived from the
// event's identity, so the same event has one request, however often and to whichever replica it is
// sent. Answers that do not decide it are added to it. The store keeps it for a day beyond its
// deadline.
//
// A decision is one message of the audit stream, on <prefix>.audit.decision.<id>, appended on the
// condition that there is none yet. People, the timeout and rules all decide by that one append,
// and the message in the stream is the decision. No decision depends on an earlier read.
//
// # Replication
//
// Each replica follows the bucket for requests and the stream for decisions, and may see either
// first. It notifies its own waiters ([Service.Await]) of the decision in the stream, whichever
// replica appended it. Every replica that knows a request decides it at its deadline, and one of
// them wins. The deadline is part of the request, so a restart does not move it.
//
// # Backpressure
//
// A waiting agent costs an entry in a table and one in a heap of times: no goroutine and no slot of
// the router's limiter. A fixed number of goroutines decide, read and answer. The number of
// requests is bounded in total, per session and per agent.
//
// # Failure
//
// Every error has a code of package wire: [wire.Unavailable] means that nothing was decided
// and the same call may be sent again.
package approvals
