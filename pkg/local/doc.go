// Package local runs hooks and a session within one program, without a bus. Match, channels, the
// injection budget, approvals and "Allow always" work as in a router.
//
// It does not support what needs state or people outside of the program: pinned guards, the audit
// log, labels, approval groups, and shadow hooks.
package local
