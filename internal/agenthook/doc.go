// Package agenthook implements hook-agent, which connects the hooks of a coding agent with
// the router: it reads what the agent sends its hook, asks the router, and writes the answer
// in the form that the agent expects.
//
// # Dialects
//
// A [Dialect] is a table of the agent's events, their names here, and what the agent lets a
// hook do at each, with one function that writes an answer. To add an agent, add a file with
// a table. What an agent would silently ignore becomes something that it honors: an ignored
// change becomes a denial, and ignored context goes to standard error.
//
// # Failure
//
// At a gated event (see [Event.Gated]) nothing passes without a verdict. If the router can't
// be reached, is late, refuses or answers something unreadable, or the agent's own document
// is unreadable, the agent is told to block, with a reason. [Options.Allow] is the exception,
// for an unreachable router; each use is shown and later reported to the router. At other
// events a failure is shown and blocks nothing.
//
// Package supervisor blocks if the process that does this dies.
//
// The agent is never told to ask its user itself: the call waits while a person decides.
package agenthook
