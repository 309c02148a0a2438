package kind

import "github.com/go-json-experiment/json/jsontext"

// MachineError says that the file is correct but this machine lacks what the hook needs: a program,
// a secret, a certificate. A check of only the file may build the hook nevertheless. A kind checks
// the machine last, so that this error hides no error in the file.
type MachineError struct{ Err error }

// Error says what is missing, and what to do.
func (e *MachineError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *MachineError) Unwrap() error { return e.Err }

// Lacks returns err as a [MachineError] at the field that pointer names.
func Lacks(pointer jsontext.Pointer, err error) *FieldError {
	return &FieldError{Pointer: pointer, Err: &MachineError{err}}
}

// SecretError is an error at a value that may be a secret, such as one written in place of a
// variable's name. Neither the value nor its line is shown.
type SecretError struct{ text string }

// Error says what is wrong.
func (e SecretError) Error() string { return e.text }

// Secret returns a [SecretError].
func Secret(text string) error { return SecretError{text} }

// ErrNoVariable is the error for a variable that is not set.
var ErrNoVariable = Secret("must be the name of a variable of the worker's environment, which is not set: values are not written here")
