// Package verdict defines the answer to hooks.execute.<event>: what the agent must do.
//
// # Usage
//
// A router turns the outcome of a chain into a [Verdict] with [Compose], adds the approval request
// if a hook asks for one, and sends the output of [Verdict.Append]. An agent reads it with [Parse]
// and obeys. Only [Continue] is a permission; an error permits nothing.
//
// # Precedence
//
// A denial or an approval request discards the injections of all hooks, whatever the decision on
// the request. The hooks' messages to the user are displayed in any case.
//
// # Injections
//
// Each text is cleaned ([Clean]), then checked against the size limit, then against the rest of the
// turn's budget. A text that does not fit is dropped with a warning; a smaller one after it may
// still fit. The remaining texts become one message: a single text as it is, several below the
// names of their hooks. It has the role and the lifetime of the first of them.
//
// # Concurrency
//
// All functions are safe for concurrent use.
package verdict
