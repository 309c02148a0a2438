// Package audit implements the commands that read the audit log (tail, query, show, stats and
// coverage), and those that prove it (export, verify, prove and check).
//
// Files are verified without NATS. The verified head is pinned in the user's state directory, so
// that a log that is later cut or rewritten is detected.
package audit
