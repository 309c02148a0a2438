// Package policy implements the commands for policies. Some have no effect: test runs the tests of
// worker files, or events through one; replay runs recorded events again; diff compares two worker
// files on recorded events; compare and status read what runs. The others are for operators: push,
// enforce and rollback change the signed policy that workers follow.
package policy
