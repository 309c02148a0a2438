package celhook

import (
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/internal/policy/match"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// ConditionWarnings returns likely mistakes in a condition that compiles, each a
// [*kind.FieldError]. expr is the condition's text, and at is its place in the configuration. A nil
// program has none.
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

// lateWarnings warns about actions that have no effect in a hook called after the answer.
func lateWarnings(mode chain.Mode, rules []Rule) (warnings []error) {
	for i, r := range rules {
		for _, action := range [...]struct {
			name string
			is   bool
		}{{"deny", r.Deny != nil}, {"ask", r.Ask != nil}, {"modify", r.Modify != nil}} {
			if action.is {
				at := jsontext.Pointer("/rules").AppendToken(strconv.Itoa(i)).AppendToken(action.name)
				warnings = append(warnings, kind.At(at, "it counts for nothing: with mode: %s the hook is called after the answer", mode))
			}
		}
	}
	return warnings
}

// openWarnings warns about the first rule that denies or asks in a hook that fails open.
func openWarnings(rules []Rule) []error {
	for i, r := range rules {
		if r.Deny != nil || r.Ask != nil {
			at := jsontext.Pointer("/rules").AppendToken(strconv.Itoa(i))
			return []error{kind.At(at, kind.OpenWarning)}
		}
	}
	return nil
}

// keyWarnings warns about the key of an ask that is not a template, so that one "Allow always"
// holds for every call.
func keyWarnings(at jsontext.Pointer, a *Ask) []error {
	if a == nil || a.Key == "" || strings.Contains(a.Key, "{{") {
		return nil
	}
	return []error{kind.At(at, "the key is the same for every call, so \"Allow always\" holds for all of them: write an expression in {{ }}, like {{ data.k }}")}
}
