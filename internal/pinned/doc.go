// Package pinned holds the guards that an operator pinned, in the file of hook-router --guards or
// by orders (hookctl guard pin) in the registry.
//
// A pinned guard must be in force for the events that the operator named: registered, enforced,
// failing closed, for every session, with the pinned priority and match. If it is not, the router
// answers 503. No registration over the bus can weaken, move, shadow or remove it. So neither a
// lost registry nor a worker that registers a guard's id disables the guard.
package pinned
