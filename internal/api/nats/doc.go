// Package nats is the router's API over NATS: the request subjects of the wire
// protocol. Its endpoints translate: they decode a request, call package dispatch, the
// registry, the approvals service or the sessions, and encode the answer. They decide
// nothing.
//
// Endpoints of agents (emit, execute, collect, contributions) join the queue group of
// the routers while the replica is ready, and leave it while it is not, so that another
// replica answers or NATS says at once that nobody does. Endpoints of workers and
// operators answer all the time.
package nats
