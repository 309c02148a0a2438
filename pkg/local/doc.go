// Package local runs hooks, and a session that obeys them, within one program and without a
// bus. Match, channels, the budget of injections, approvals and "Allow always" work as in a
// router.
//
// It lacks what needs state or people outside of the program: pinned guards, the audit log,
// labels, approval groups, and hooks in shadow.
package local
