// Package policy has the commands that evaluate hooks without effect: test runs the tests
// of worker files, or events through one; replay runs recorded events again, and diff through two
// worker files.
package policy
