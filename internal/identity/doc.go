// Package identity gives every agent, worker and person credentials of its own.
//
// An [Authority] is a directory with the keys of a NATS operator and its accounts. Each
// agent and each person has an account of its own, which imports what its [Role] may
// use: so nobody reads or answers the requests of another, and the routers learn from
// the NATS server who sent a request. Routers, workers and the other programs behind the
// routers share one account, with permissions for exactly their own subjects.
//
// Whoever can read the directory can make credentials. The file identities.json in it
// holds no secret: it is the [directory] that tells routers who is who.
package identity
