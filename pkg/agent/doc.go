// Package agent sends an agent's events to the router and returns the verdicts that the agent must
// obey.
//
// # Usage
//
// Create an [Agent] for a session with [New], on a [hookrouter.Client], and pass its events to
// [Agent.Execute]. The router carries out what the hooks decide, which includes asking a person,
// and returns an [Execution]: continue or deny, and the data to continue with. A [Session] also
// delivers the hooks' messages: to the model through a [ContextManager], to the user through a
// [Display].
//
// Use [Agent.Emit] instead if the agent acts on the hooks' result itself. It returns an [Answer].
//
// # Failure
//
// An error means that nothing was decided: no router answered, the router rejected the event, or
// time ran out. An agent that enforces a policy must stop then. While no router answers, or routers
// return 503, no hook has run, and the event is retried for up to the client's Patience. An error
// reply is a *[hookrouter.Error] with a code of the wire protocol.
//
// An approval request outlives routers, servers and connections: Execute waits until it is decided.
// A *[PendingError] means that Execute stopped waiting and the request is still open.
//
// # Concurrency
//
// An Agent and a Session are safe for concurrent use.
package agent
