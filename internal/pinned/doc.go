// Package pinned holds the guards that an operator pinned: in the file of hook-router
// --guards, and by orders (hookctl guard pin), which the registry stores.
//
// A pinned guard must be in force for the events that the operator named: registered,
// enforced, failing closed, for every session, at its place and with its match. Where it
// is not, the router answers 503, and no registration over the bus weakens, moves,
// shadows or removes it. So neither a registry that was lost nor a worker that registers
// a guard's id opens the gate.
package pinned
