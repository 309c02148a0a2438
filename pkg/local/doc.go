// Package local is what a program has without a bus: hooks of its own, which it registers,
// and a session that obeys them. Match, channels, the budget of injections, approvals and
// "Allow always" are those of a router.
//
// What it has not, because nothing outlives or stands outside of the program: pinned
// guards, the audit log, labels, approval groups, and hooks in shadow.
package local
