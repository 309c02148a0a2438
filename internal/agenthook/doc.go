// Package agenthook stands between the hooks of a coding agent and the router: it reads
// what an agent sends its hook, asks the router, and writes the answer in the agent's own
// words. It is what the program hook-agent consists of.
//
// # Dialects
//
// A [Dialect] is a table: which events the agent has, what they are called here, and what
// the agent lets a hook do at each; beside it stands the one function that writes an answer.
// To add an agent is to add a file with a table. What an agent would pass over in silence
// becomes something it honors: a change that it ignores is a denial, and context that it
// does not take is told on standard error.
//
// # Failure
//
// At a gated event (see [Event.Gated]) nothing passes without a verdict: where the router
// can't be reached, is late, refuses or answers what can't be read, and where the agent's
// own document can't be read, the agent is told to block, with a reason. [Options.Allow]
// is the exception, for a router that can't be reached; each use is told and reported to
// the router later. At other events a failure is told and blocks nothing.
//
// Package supervisor notices where the process dies that does all this.
//
// The agent is never told to ask its user itself: the call is held while a person decides.
package agenthook
