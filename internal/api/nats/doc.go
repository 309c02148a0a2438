// Package nats is the router's API over NATS: the request subjects of the wire protocol. Its
// endpoints translate: they decode a request, call package dispatch, the registry, the approvals
// service or the sessions, and encode the answer. They decide nothing.
//
// The endpoints for agents (emit, execute, collect, contributions) are in the queue group of the
// routers only while the replica is ready. Otherwise another replica answers, or NATS reports at
// once that nobody does. The endpoints for workers and operators always answer.
package nats
