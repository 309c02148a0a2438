// Package httpapi is the router's API over HTTP, for programs that can't speak NATS. Its
// endpoints translate: they decode a request, call package agentapi and encode the answer, like
// those of package nats. They decide nothing.
//
// # Authentication
//
// Each request carries a token, which proves an agent's identity as an account does over NATS:
// sessions, budgets, grants, approval requests and limits belong to that agent, whatever transport
// it uses. The API serves only what an agent may do. Wrong tokens are counted by address; a valid
// one is never refused because of them.
//
// # Browsers
//
// Requests that a page sends, or that use an unknown host name, are refused. No page may read an
// answer.
//
// # Waiting
//
// As over NATS, a chain runs to its end even if its client goes away. If a person must decide,
// the answer waits as long as the client asks, or follows as an event of a stream. A client that
// lost it resumes with the id of the approval request.
package httpapi
