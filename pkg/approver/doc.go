// Package approver lists, watches and answers approval requests. Use it to build a terminal, a chat
// bridge or a policy engine.
//
// # Usage
//
// Create an [Approver] with [New] on a [hookrouter.Client]. [Approver.Pending] lists the open
// approval requests, [Approver.Get] returns one of them, and [Approver.Answer] decides it.
// [Approver.Watch] reports every request that is open, opened or decided. [Approver.Session] and
// [Approver.Revoke] show and revoke the grants of a session.
//
// # Decisions
//
// The router decides each request once: it accepts one answer and rejects all others, with the
// reason and the answer that won. An answer with the request's data_sha256 counts for exactly that
// data only. The record holds the identity that the connection proves and the name that the answer
// claims.
//
// # Failure
//
// An error means that nothing was decided, except for [hookrouter.ErrConnectionLost]: the answer
// may have taken effect, and [Approver.Get] shows whether it did. An error reply is a
// *[hookrouter.Error] with a code of the wire protocol. While no router answers, or routers return
// 503, a request is retried for up to the client's Patience.
//
// # Trust
//
// Notices are published on NATS, where others may be able to publish too. Before you show an
// approval request to a person, fetch the router's record with [Approver.Get]. Its texts come from
// hooks and agents, so escape control characters.
//
// # Concurrency
//
// An Approver is safe for concurrent use.
package approver
