// Package httpapi is the router's API over HTTP, for programs that can't speak NATS. Its
// endpoints translate: they decode a request, call package agentapi, and encode the answer,
// as those of package nats do. They decide nothing.
//
// # Who sends
//
// Each request carries a token, which proves an agent's identity as an account does over
// NATS: sessions, budgets, grants, approval requests and limits are that agent's, whatever
// it speaks. Nothing but what an agent may do is served. Wrong tokens are counted by
// address, and a right one is never refused for them.
//
// # Browsers
//
// A request that a page sends, or that came in under a foreign name, is refused; there is
// no answer that a page may read.
//
// # Waiting
//
// A chain runs to its end where its client goes away, as it does over NATS. Where a person
// has to decide, the answer waits for as long as the client asks, or follows as an event of
// a stream; a client that lost it resumes with the id of the approval request.
package httpapi
