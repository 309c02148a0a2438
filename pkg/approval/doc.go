// Package approval defines approval requests, and what counts as an answer to one.
//
// A hook that answers ask_user opens an approval request. The request is stored before
// anyone sees it, bound to the digest of the exact data, with a deadline that no
// restart moves. One [Decision] ends it, whoever makes it: a person, the time-out,
// a rule, or an approval system that failed. Granting is only for the answers of
// the allow family ([Grants]); everything else denies, and so does silence unless
// the hook said otherwise.
//
// # Usage
//
// [Check] and [Timeout] say what may be asked and for how long. [Decide] and
// [TimedOut] make the decision, [Reason] says it to the agent. [Rules] answer
// before anyone is asked. [Changes] shows what hooks made of the data.
// [Record.Append] writes a record without touching the bytes of its data, and
// encoding/json reads it.
//
// # Failure
//
// A denial is a [Decision]; an error of [Decide] rejects the answer, and
// the request stays open. Whether a request was decided already is not known here:
// whoever stores decisions accepts only the first one.
//
// This package decides and does no I/O. A [Service] keeps the requests; the router's is
// internal/approvals, and pkg/approver reaches it over NATS.
// All functions may be called concurrently.
package approval
