// Package approvals has the commands about approval requests: list, show, answer and
// watch them; list and revoke what "Allow always" granted; check a file of rules, and
// suggest rules from what people answered.
package approvals
