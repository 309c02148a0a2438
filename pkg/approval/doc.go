// Package approval defines approval requests, and which answers decide them.
//
// A hook that answers ask_user opens an approval request. The router stores the request before
// anyone sees it, bound to the digest of the exact data, with a deadline that survives restarts.
// One [Decision] ends it: that of a person, the time-out, a rule, or an approval system that
// failed. Only the options Allow, Allow once and Allow always grant ([Grants]). All others deny,
// and so does the time-out unless the hook set another default.
//
// # Usage
//
// [Check] and [Timeout] validate a hook's question. [Decide] and [TimedOut] return the decision,
// and [Reason] returns its text for the agent. [Rules] answer before anyone is asked. [Changes]
// returns the difference that hooks made to the data. [Record.Append] encodes a record without
// changing the bytes of its data; encoding/json decodes it.
//
// # Failure
//
// A denial is a [Decision]. An error of [Decide] rejects the answer, and the request stays open.
// This package does not know whether a request has been decided: the store of decisions must accept
// only the first one.
//
// The package does no I/O. A [Service] keeps the requests: internal/approvals in the router, which
// pkg/approver reaches over NATS. All functions are safe for concurrent use.
package approval
