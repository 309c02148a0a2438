package kind

import "github.com/go-json-experiment/json/jsontext"

// MachineError says that the file is right and this machine lacks what the hook needs: a program, a
// secret, a certificate. A check of the file alone may build the hook nevertheless. A kind checks
// the machine last, so that this error hides no error of the file.
type MachineError struct{ Err error }

// Error is what is missing, and what to do.
func (e *MachineError) Error() string { return e.Err.Error() }

// Unwrap returns what is missing.
func (e *MachineError) Unwrap() error { return e.Err }

// Lacks returns err as the [MachineError] of the field that pointer names.
func Lacks(pointer jsontext.Pointer, err error) *FieldError {
	return &FieldError{Pointer: pointer, Err: &MachineError{err}}
}
