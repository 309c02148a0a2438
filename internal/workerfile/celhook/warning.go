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

// keyWarnings warns of an ask's key that is no template, so that one "Allow always" holds for
// every call.
func keyWarnings(at jsontext.Pointer, a *Ask) []error {
	if a == nil || a.Key == "" || strings.Contains(a.Key, "{{") {
		return nil
	}
	return []error{kind.At(at, "the key is the same for every call, so \"Allow always\" holds for all of them: write an expression in {{ }}, like {{ data.k }}")}
}
