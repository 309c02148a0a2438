// Package approver is what those import who answer a hook's questions for people:
// a terminal, a chat bridge, a policy engine.
//
// # Usage
//
// [Connect] an [Approver]. [Approver.Pending] lists what is open,
// [Approver.Get] tells all that is known of one question, [Approver.Answer]
// decides it. [Approver.Watch] tells of every question that is open, was asked
// or was decided. [Approver.Session] and [Approver.Revoke] show and take back
// what a session was granted for good.
//
// # Who decides
//
// The router does, once: of several answers to a question one is accepted, and
// the others are refused with the reason and the winner. An answer with the
// question's data_sha256 counts for exactly the data that was looked at. Who
// answered is recorded as what the connection proves, beside what the answer
// claims.
//
// # Failure
//
// An error means that nothing was decided, but for [ErrLost], after which
// [Approver.Get] tells. A refusal is a *[Refusal] with the code of the wire
// protocol. A router that can't serve at the moment (503), or is not there yet,
// is asked again for up to Options.Patience.
//
// # Trust
//
// Notices are published on the bus, where others may publish too. Before a
// person is shown a question, [Approver.Get] it: the record is the router's.
// Its texts are foreign; show them with their control characters made visible.
//
// # Concurrency
//
// An Approver is safe for concurrent use.
package approver
