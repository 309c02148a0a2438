// Package approvals has the commands about approval requests: list, show, answer and
// watch them, and check a file of rules.
package approvals
