package celhook

import "strings"

// failure says why an expression has no value for an event, and what to do about it.
type failure struct {
	text string
	err  error
}

func (f failure) Error() string { return f.text }
func (f failure) Unwrap() error { return f.err }

// explain adds what to do about an expression without a value.
func explain(err error) error {
	text := strings.TrimPrefix(err.Error(), "match: ")
	switch {
	case strings.HasPrefix(text, "no such key"):
		text += ": ask first whether it is there, like has(data.x)"
	case strings.HasPrefix(text, "no such overload"):
		text += ": a value is of another type than the expression wants: ask first, like type(data.x) == string"
	}
	return failure{text, err}
}
