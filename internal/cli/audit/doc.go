// Package audit has the commands that read the audit log: tail, query, show, stats and
// coverage; and those that prove it: export, verify, prove and check.
//
// Files are verified without NATS. What was verified is pinned in the user's state
// directory, so that a log that was cut or rewritten since is noticed.
package audit
