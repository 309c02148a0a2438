// Package policy has the commands about policies. Without effect: test runs the tests of
// worker files, or events through one; replay runs recorded events again; diff compares two
// worker files over them; compare and status read what runs. With effect, for operators:
// push, enforce and rollback change the signed policy that workers follow.
package policy
