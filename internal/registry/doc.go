// Package registry holds the registrations that all replicas of the router
// share, and makes one promise: when a registration was answered, every replica
// that takes an event from then on calls the hook.
//
// # The log
//
// Registrations are keys of one JetStream key-value bucket, and so are the
// replicas themselves. The bucket's log puts both in one order. Each replica
// follows the log and swaps its [chain.Table] with every batch of changes.
//
// # The lease
//
// A replica may use its table only while it holds a lease. It gets one by writing
// its own key and seeing that very record come back through the log it follows:
// so its table holds everything that was in the log when it wrote. The lease runs
// from the moment before the write. The others count it from the moment they see
// the record, which is later; so they never think a lease over that its holder
// still trusts.
//
// Whoever answers a registration at revision R first waits until every replica
// it knows has reported to have applied R, or until the leases from records
// before R have run out. A record after R gives a lease only to a replica that
// has seen it, and so has applied R; the same holds for a replica that wrote its
// first record after R. So a replica that stands still delays a registration by
// one lease, however eagerly it goes on writing.
//
// # Writing
//
// Every change of a registration names the revision it follows, and is tried
// again from the newer one where somebody was faster. Nothing is decided by a
// read.
//
// # Liveness
//
// An instance renews by registering again. Renewals are not written: the replica that got
// one broadcasts a heartbeat to the others. An instance without a heartbeat for a whole
// time-to-live is removed by whichever replica notices, by a write like any other. After a
// start, or after a lease was lost, every instance gets a whole time-to-live first. A
// durable hook stays registered without instances.
package registry
