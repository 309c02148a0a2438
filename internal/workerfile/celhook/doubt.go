package celhook

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/internal/policy/match"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
)

// Doubts are what is probably not meant in a condition, whose text is expr, at a place of
// the configuration; each is a [*kind.FieldError]. A nil program has none.
func Doubts(at jsontext.Pointer, expr string, program *match.Program) (doubts []error) {
	if program == nil {
		return nil
	}
	if expr = strings.TrimSpace(expr); program.Bare() {
		doubts = append(doubts, kind.At(at, "%s alone is a condition only where it is true or false: compare it, like %s == 'x', or %s == true", expr, expr, expr))
	}
	for _, name := range program.EventNames() {
		if doubt := kind.DoubtEvent(name.Text); doubt != nil {
			doubts = append(doubts, &kind.FieldError{Pointer: at, Line: name.Line, Column: name.Column, Err: doubt})
		}
	}
	return doubts
}
