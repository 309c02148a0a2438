// Package hook has the commands about registered hooks: list them, serve a hook of one
// line, remove one, and validate a live one.
package hook
