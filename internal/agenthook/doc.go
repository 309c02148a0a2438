// Package agenthook implements hook-agent, which connects the hooks of a coding agent with the
// router: it reads the agent's hook input, asks the router, and writes the answer in the format
// that the agent expects.
//
// # Dialects
//
// A [Dialect] is a table of the agent's events with their standard names and what the agent
// supports at each, and a function that writes answers. To add an agent, add a file with a table.
// Parts of a verdict that an agent would silently ignore are converted: an unsupported change
// becomes a denial, and unsupported context goes to standard error.
//
// # Failure
//
// A gated event (see [Event.Gated]) never passes without a verdict. If the router is unreachable,
// times out, refuses or sends an invalid answer, or if the agent's own document is invalid,
// hook-agent blocks the event with a reason. The exception is [Options.Allow] with an unreachable
// router; each use is shown to the user and later reported to the router. At other events, a
// failure is shown and does not block.
//
// Package supervisor detects that this process dies, so that the event is still blocked.
//
// hook-agent never makes the agent ask its own user: the call waits until a person decides on the
// approval request.
package agenthook
