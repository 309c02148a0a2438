package kind

import "github.com/go-json-experiment/json/jsontext"

// MachineError says that what stands in the file is well, and that this machine lacks
// what the hook needs: a program, a secret, a certificate. Who only looks at the file
// may build the hook all the same. A kind looks at the machine when it has checked
// all else, so that it hides no fault of the file.
type MachineError struct{ Err error }

// Error is what is missing, and what to do.
func (e *MachineError) Error() string { return e.Err.Error() }

// Unwrap returns what is missing.
func (e *MachineError) Unwrap() error { return e.Err }

// Lacks returns err as the [MachineError] of the field that pointer names.
func Lacks(pointer jsontext.Pointer, err error) *FieldError {
	return &FieldError{Pointer: pointer, Err: &MachineError{err}}
}
