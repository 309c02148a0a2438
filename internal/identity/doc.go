// Package identity gives every agent, worker and person credentials of its own.
//
// An [Authority] is a directory with the keys of a NATS operator and its accounts. Each agent and
// each person has an account of its own, which exchanges with the routers' account only what its
// [Role] may use: no identity reads or answers the requests of another, and the routers learn from
// the NATS server who sent a request. Routers, workers and the programs that routers rely on share
// one account, with permissions for exactly their own subjects.
//
// Whoever can read the directory can make credentials. The file identities.json in it contains no
// secret: routers read the identities from it.
package identity
