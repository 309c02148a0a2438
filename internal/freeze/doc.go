// Package freeze describes an operator's order that nothing is permitted: to anybody, to
// one agent, or in one session. The registry stores the orders and makes every replica
// know them; dispatch obeys them. A freeze stops no tool that runs already.
package freeze
