package redact

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/strictyaml"
)

func checkPattern(text string) error {
	switch {
	case text == "":
		return errors.New("is empty: give it an expression")
	case len(text) > maxPattern:
		return fmt.Errorf("has %d bytes: at most %d are allowed", len(text), maxPattern)
	}
	form, err := regexp.Compile(text)
	if err != nil {
		return fault(err)
	}
	if form.MatchString("") {
		return fmt.Errorf("%q matches the empty text: let it match at least one character", strictyaml.Clip(text))
	}
	return nil
}

// fault explains what is wrong with an expression, and how to fix it.
func fault(err error) error {
	wrong, ok := errors.AsType[*syntax.Error](err)
	if !ok {
		return fmt.Errorf("is not a valid expression: %w", err)
	}
	hint := "see https://github.com/google/re2/wiki/Syntax"
	switch wrong.Code {
	case syntax.ErrInvalidPerlOp, syntax.ErrInvalidNamedCapture:
		hint = "RE2 has no lookahead and lookbehind: mask the first group instead"
	case syntax.ErrInvalidEscape:
		hint = "RE2 has no back references; write \\\\ for a backslash"
	case syntax.ErrMissingParen, syntax.ErrUnexpectedParen, syntax.ErrMissingBracket:
		hint = "write a backslash before a bracket that stands for itself"
	}
	return fmt.Errorf("is not a valid expression: %s: %q (%s)", wrong.Code, strictyaml.Clip(wrong.Expr), hint)
}

// longest returns the longest run of characters in a hint that have codes.
func longest(hint string) string {
	best := ""
	for _, part := range strings.FieldsFunc(hint, func(r rune) bool { return r > '~' || codes[r]&codeMask == 0 }) {
		if len(part) > len(best) {
			best = part
		}
	}
	return best
}

func checkDefault(name string) error {
	if slices.Contains(kindNames, name) || slices.ContainsFunc(defaultKeys, func(k string) bool { return sameKey(k, name) }) {
		return nil
	}
	return fmt.Errorf("%q is not a default: name a default key, or one of the kinds %s",
		strictyaml.Clip(name), strings.Join(slices.Sorted(slices.Values(kindNames)), ", "))
}

func checkKey(name string) error {
	switch {
	case strings.Trim(name, "-_ ") == "":
		return errors.New("is empty: give the name of a member")
	case len(name) > maxKey:
		return fmt.Errorf("has %d bytes: at most %d are allowed", len(name), maxKey)
	}
	return nil
}

func checkName(name string) error {
	ok := func(r rune) bool { return 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || r == '-' }
	switch {
	case name == "":
		return errors.New("is empty: it is shown as [REDACTED:name]")
	case len(name) > maxName:
		return fmt.Errorf("has %d bytes: at most %d are allowed", len(name), maxName)
	case strings.ContainsFunc(name, func(r rune) bool { return !ok(r) }):
		return fmt.Errorf("is %q: take letters a to z, digits and dashes", strictyaml.Clip(name))
	}
	return nil
}

func checkHint(hint string) error {
	if len(longest(hint)) < minHint {
		return fmt.Errorf("%q is too short: a hint has at least %d letters, digits, dashes or dots in a row", strictyaml.Clip(hint), minHint)
	}
	return nil
}

func checkValue(value string) error {
	switch {
	case value == "":
		return errors.New("is empty: give the text that is to stay")
	case len(value) > maxPattern:
		return fmt.Errorf("has %d bytes: at most %d are allowed", len(value), maxPattern)
	}
	return nil
}
