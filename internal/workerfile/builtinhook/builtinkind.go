package builtinhook

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/internal/builtin"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// New returns the kind whose sections name one of the given builtins.
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
	name, options, err := nameOf(s)
	if err != nil {
		return kind.Hook{}, err
	}
	b, known := builtins[name]
	if !known {
		wrong := unknown(name, slices.Sorted(maps.Keys(builtins)))
		if options {
			wrong.Pointer, wrong.Key = wrong.Pointer.AppendToken(name), true
		}
		return kind.Hook{}, wrong
	}
	refused := b.Complete(s)
	if refused != nil {
		refused = kind.At("", "%s: %w", name, refused)
	}
	whole, at := s.Decode, jsontext.Pointer("").AppendToken(name)
	s.Decode = func(part jsontext.Pointer, config any) error {
		if !options {
			return nil // a name without options
		}
		return whole(at+part, config)
	}
	hook, err := b.Build(s)
	hook.Handler = named(name, options, hook.Handler)
	if options {
		for i, warning := range hook.Warnings {
			hook.Warnings[i] = kind.Within(at, warning)
		}
		err = kind.Within(at, err)
	}
	return hook, errors.Join(refused, err)
}

// named prefixes the rules of a builtin with its name, below which its options are.
func named(name string, options bool, handler kind.Handler) kind.Handler {
	if handler == nil {
		return nil
	}
	return func(ctx context.Context, ev events.Event) (chain.Result, error) {
		result, err := handler(ctx, ev)
		part, rule := kind.SplitRule(result.Rule)
		if options {
			result.Rule = kind.Rule(jsontext.Pointer("").AppendToken(name)+part, rule)
		} else {
			result.Rule = strings.TrimSpace(name + " " + rule)
		}
		return result, err
	}
}

func unknown(name string, known []string) *kind.FieldError {
	if best := kind.ClosestWithin(1+len(name)/4, name, known); best != "" {
		return kind.At("", "there is no builtin %q: did you mean %q?", name, best)
	}
	return kind.At("", "there is no builtin %q: known are %s", name, strings.Join(known, ", "))
}

// nameOf returns the name in a section, and whether the section has options.
func nameOf(s kind.Section) (name string, options bool, err error) {
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
	switch {
	case len(members) > 1:
		return "", false, kind.At("", "must name one builtin, not %d: options are indented deeper than the builtin's name", len(members))
	case len(members) == 0:
		return "", false, kind.At("", "must name one builtin")
	}
	for name = range members {
	}
	return name, true, nil
}
