// Package router is one replica of the router: it plugs the registry, the sessions, the
// approvals, the audit log and telemetry into package dispatch, and serves the result on
// NATS. It decides nothing itself.
//
// [New] opens what the replica shares with the others: buckets and streams in JetStream.
// [Router.Run] starts every part, serves when all are ready, and stops them in the
// reverse order: no request is taken any more, those that were taken are answered, the
// last records are written and signed, and the lease is given up.
package router
