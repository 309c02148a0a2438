// Package agent is what agent authors import: say what happens, obey the answer.
//
// # Usage
//
// [Connect] an [Agent] for a session, and [Agent.Execute] its events: the router
// acts on what the hooks say, asks a person where one of them wants that, and
// returns an [Execution] that says continue or deny, and the data to go on with. A
// [Session] does so too, and delivers what the hooks want said: to the model by a
// [ContextManager], to the user by a [Display].
//
// An agent that wants to do all of that itself calls [Agent.Emit] and acts on the
// [Answer], which is what the hooks said.
//
// # Failure
//
// An error means that nothing was decided: no router answered, it refused, or the
// time was over. An agent that guards something must not go on then. A router that
// can't serve at the moment (503), or is not there yet, is asked again for up to
// Options.Patience, since no hook was called. Every refusal is a *[Refusal] with
// the code of the wire protocol.
//
// A question to a person outlives routers, servers and connections: Execute asks
// for its one answer until it has it. A *[PendingError] says that it stopped to.
//
// # Concurrency
//
// An Agent and a Session are safe for concurrent use.
package agent
