// Package agent is what agent authors import: emit what happens, obey the answer.
//
// # Usage
//
// [Connect] an [Agent] for a session, [Agent.Emit] its events, and look at the
// [Answer]: it is denied, or its data is what to go on with.
//
// # Failure
//
// An error means that nothing was decided: no router answered, it refused, or the
// time was over. An agent that guards something must not go on then. A router that
// can't serve at the moment (503), or is not there yet, is asked again for up to
// Options.Patience, since no hook was called. Every refusal is a *[Refusal] with
// the code of the wire protocol.
//
// # Concurrency
//
// An Agent is safe for concurrent use.
package agent
