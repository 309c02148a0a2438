// Package kind defines what the kinds of hooks in a worker file share: the [Section] that they
// build a [Hook] from, and errors that name the wrong field. It is a separate package so that a
// program can use one kind without linking the others.
//
// # Failure
//
// The constructor of a kind returns a [FieldError] for an error in its configuration. It wraps a
// [MachineError] if only this machine lacks something. A [Handler] that could not decide returns an
// error.
package kind
