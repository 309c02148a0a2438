// Package approvals implements the commands for approval requests: list, show, answer and watch
// requests; list and revoke "Allow always" grants; check a file of rules, and suggest rules from
// people's answers.
package approvals
