// Package freeze defines an operator's order to deny everything: for all agents, for one agent, or
// in one session. The registry stores the orders and distributes them to all replicas; dispatch
// enforces them. A freeze does not stop tools that are already running.
package freeze
