// Package approver lists, watches and answers approval requests: for a terminal, a chat
// bridge or a policy engine.
//
// # Usage
//
// Create an [Approver] with [New] on a [hookrouter.Client]. [Approver.Pending] lists the
// open approval requests, [Approver.Get] returns one of them, and [Approver.Answer] decides
// it. [Approver.Watch] reports every request that is open, opened or decided.
// [Approver.Session] and [Approver.Revoke] show and revoke the grants of a session.
//
// # Who decides
//
// The router decides each request once: it accepts one answer and rejects the others with
// the reason and the winner. An answer with the request's data_sha256 counts only for
// exactly that data. The record has the identity that the connection proves, beside the
// one that the answer claims.
//
// # Failure
//
// An error means that nothing was decided, except [hookrouter.ErrConnectionLost]: the
// answer may have taken effect, and [Approver.Get] shows whether it did. An error reply is
// a *[hookrouter.Error] with a code of the wire protocol. While no router answers, or it
// can't serve (503), a request is retried for up to Patience, an option of the client.
//
// # Trust
//
// Notices are published on NATS, where others may publish too. Before you show an approval
// request to a person, fetch it with [Approver.Get]: that record is the router's. Its texts
// come from hooks and agents; make their control characters visible.
//
// # Concurrency
//
// An Approver is safe for concurrent use.
package approver
