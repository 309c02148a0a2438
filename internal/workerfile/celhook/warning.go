package celhook

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/internal/policy/match"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
)

// ConditionWarnings returns likely mistakes in a condition that compiles; expr is its text
// and at its place in the configuration. Each is a [*kind.FieldError]. A nil program has
// none.
func ConditionWarnings(at jsontext.Pointer, expr string, program *match.Program) (warnings []error) {
	if program == nil {
		return nil
	}
	if expr = strings.TrimSpace(expr); program.Bare() {
		warnings = append(warnings, kind.At(at, "%s alone is a condition only where it is true or false: compare it, like %s == 'x', or %s == true", expr, expr, expr))
	}
	for _, name := range program.EventNames() {
		if err := kind.CheckEventSpelling(name.Text); err != nil {
			warnings = append(warnings, &kind.FieldError{Pointer: at, Line: name.Line, Column: name.Column, Err: err})
		}
	}
	return warnings
}
