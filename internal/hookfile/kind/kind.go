package kind

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// Handler answers one event. The context carries the deadline of the call. An
// error means that the hook could not decide; its on_failure then does. A Handler
// is called by many goroutines at once. It is the same type as a worker.Handler.
type Handler = func(ctx context.Context, ev events.Event) (chain.Result, error)

// FieldError says which field of a configuration is wrong, and where in the
// field's text, so that whoever read the configuration from a file can name the
// place in the file.
type FieldError struct {
	Pointer      jsontext.Pointer // the field, from the configuration's root; empty means the root
	Line, Column int              // within the field's text, from 1; zero means the whole field
	Err          error            // what is wrong
}

// Error is like "/rules/0/when: 1:6: undeclared reference to 'dta'".
func (e *FieldError) Error() string {
	text := e.Err.Error()
	if e.Line > 0 {
		text = fmt.Sprintf("%d:%d: %s", e.Line, e.Column, text)
	}
	if e.Pointer != "" {
		text = string(e.Pointer) + ": " + text
	}
	return text
}

// Unwrap returns what is wrong.
func (e *FieldError) Unwrap() error { return e.Err }

// At returns err as an error of the field that pointer names, with fmt.Errorf's
// format.
func At(pointer jsontext.Pointer, format string, args ...any) *FieldError {
	return &FieldError{Pointer: pointer, Err: fmt.Errorf(format, args...)}
}
