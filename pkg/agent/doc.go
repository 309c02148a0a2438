// Package agent sends the events of an agent to the router and returns the answers that the
// agent must obey.
//
// # Usage
//
// Create an [Agent] for a session with [New], on a [hookrouter.Client], and pass its events
// to [Agent.Execute]: the router acts on what the hooks answer, asks a person where one of
// them wants that, and returns an [Execution] that says continue or deny, and the data to go
// on with. A [Session] also delivers what the hooks want said: to the model by a
// [ContextManager], to the user by a [Display].
//
// An agent that acts on the answers itself calls [Agent.Emit], which returns the [Answer]
// of the hooks.
//
// # Failure
//
// An error means that nothing was decided: no router answered, it rejected the event, or the
// time was over. An agent that guards something must not go on then. While no router
// answers, or it can't serve (503), an event is retried for up to Patience, an option of the
// client, since no hook was called. An error reply is a *[hookrouter.Error] with a code of
// the wire protocol.
//
// An approval request outlives routers, servers and connections: Execute waits for its
// decision until it has it. A *[PendingError] says that Execute stopped waiting and that the
// request is still open.
//
// # Concurrency
//
// An Agent and a Session are safe for concurrent use.
package agent
