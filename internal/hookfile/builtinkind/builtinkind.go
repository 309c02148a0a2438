package builtinkind

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/internal/builtin"
	"github.com/hookrouter/hookrouter/internal/hookfile/kind"
)

// New is the kind whose sections name one of the given builtins.
func New(builtins map[string]builtin.Builtin) kind.Kind {
	members := map[string]kind.Kind{}
	for name, b := range builtins {
		members[name] = b.Kind
	}
	return kind.Kind{
		Summary: "A hook that comes with hook-worker, by its name.",
		Members: members,
		Build:   func(s kind.Section) (kind.Hook, error) { return build(builtins, s) },
	}
}

func build(builtins map[string]builtin.Builtin, s kind.Section) (kind.Hook, error) {
	name, options, err := named(s)
	if err != nil {
		return kind.Hook{}, err
	}
	b, known := builtins[name]
	if !known {
		at := jsontext.Pointer("")
		if options {
			at = at.AppendToken(name)
		}
		return kind.Hook{}, kind.At(at, "there is no builtin %q: known are %s", name, strings.Join(slices.Sorted(maps.Keys(builtins)), ", "))
	}
	b.Complete(s)
	whole, at := s.Decode, jsontext.Pointer("").AppendToken(name)
	s.Decode = func(part jsontext.Pointer, config any) error {
		if !options {
			return nil // a name alone: every option has its default
		}
		return whole(at+part, config)
	}
	hook, err := b.Build(s)
	if field, ok := errors.AsType[*kind.FieldError](err); ok && options {
		return hook, &kind.FieldError{Pointer: at + field.Pointer, Line: field.Line, Column: field.Column, Err: field.Err}
	}
	return hook, err
}

// named returns the name in a section, and whether options stand with it.
func named(s kind.Section) (name string, options bool, err error) {
	var section jsontext.Value
	if err := s.Decode("", &section); err != nil {
		return "", false, err
	}
	if section.Kind() == '"' {
		err := s.Decode("", &name)
		return name, false, err
	}
	if section.Kind() != '{' {
		return "", false, kind.At("", "must be the name of a builtin, alone or with its options")
	}
	var members map[string]jsontext.Value
	if err := s.Decode("", &members); err != nil {
		return "", false, err
	}
	if len(members) != 1 {
		return "", false, kind.At("", "must name one builtin, not %d", len(members))
	}
	for name = range members {
	}
	return name, true, nil
}
