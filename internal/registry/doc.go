// Package registry keeps the registrations that all replicas of the router share. It guarantees
// that once a registration is answered, every replica calls the hook for the events that it admits.
//
// # The log
//
// Registrations are keys of one JetStream key-value bucket, and so are the records of the replicas.
// The bucket's log puts both in one order. Each replica follows the log and swaps its [chain.Table]
// with every batch of changes.
//
// # The lease
//
// A replica may use its table only while it holds a lease. To get one, it writes its own key and
// waits until that record comes back through the log that it follows: its table then holds
// everything that was in the log when it wrote. The lease runs from before the write. The other
// replicas count it from when they see the record, which is later, so they never consider a
// lease expired that its holder still trusts.
//
// The replica that answers a registration at revision R first waits, for every replica it knows,
// until that replica reported applying R or its leases from records before R expired. A record
// after R grants a lease only to a replica that has read it, and so has applied R; the same holds
// for a replica that wrote its first record after R. So a stuck replica delays a registration by
// one lease at most, even if it keeps writing.
//
// # Writing
//
// Every change of a registration names the revision that it replaces, and is retried from the newer
// one if another writer was first. So it never depends on a stale read.
//
// # Liveness
//
// An instance renews by registering again. The replica that gets a renewal broadcasts a heartbeat
// to the others; only a late renewal is written. The first replica that notices an instance without
// a heartbeat for a whole time-to-live removes it, by a write like any other. After a start or a
// lost lease, every instance gets a whole time-to-live first. A durable hook stays registered
// without instances.
package registry
