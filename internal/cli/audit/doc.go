// Package audit has the commands that read the audit log: tail, query, show, stats and
// coverage; and those that prove it: export, verify, prove and check.
//
// Files are verified without NATS. The verified head is pinned in the user's state
// directory, to notice if the log is later cut or rewritten.
package audit
