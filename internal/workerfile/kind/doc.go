// Package kind is what the kinds of hooks in a worker file have in common: what they
// build a [Hook] from, what a hook is, and how they say which field is wrong. It
// stands apart so that a program can use one kind without linking the others.
//
// # Failure
//
// The constructor of a kind returns a [FieldError] for whatever is wrong with its
// configuration; what only this machine lacks is a [MachineError] in it. A [Handler] that could not decide returns an error.
package kind
