// Package verdict defines what an agent is told to do: the answer to
// hooks.execute.<event>.
//
// # Usage
//
// A router makes a [Verdict] of what a chain decided with [Compose], puts the
// approval request where a hook asks for one, and sends what [Verdict.Append]
// writes. An agent reads it with [Parse] and obeys: [Continue] is the only
// permission, and an error is none.
//
// # Precedence
//
// A denial or an approval request discards the injections of all hooks, whatever comes of
// the approval request. What hooks say to the user is displayed in any case.
//
// # Injections
//
// Each text is cleaned ([Clean]), then measured against the size limit, then
// against what is left of the turn's budget. What does not fit is dropped with a
// warning, and a smaller one after it may still fit. What remains is one message:
// the text alone, or several under the names of their hooks. It has the role and
// the lifetime of the first that remains.
//
// # Concurrency
//
// Everything here is a value or a pure function; nothing holds a lock.
package verdict
