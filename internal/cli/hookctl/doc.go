// Package hookctl implements the command line of hookctl: the tree of commands, help and
// completion, and [Run].
package hookctl
