// Package router is one replica of the router: it connects the registry, the sessions, the
// approvals, the audit log and telemetry with package dispatch, and serves the result on NATS.
// It decides nothing itself.
//
// [New] opens what the replica shares with the others: buckets and streams in JetStream.
// [Router.Run] starts every part and serves when all are ready. It stops them in reverse order:
// it takes no more requests, answers those it took, writes and signs the last records, and gives
// up the lease.
package router
