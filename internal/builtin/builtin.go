package builtin

import (
	"errors"

	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// Builtin is a hook that comes with hook-worker.
type Builtin struct {
	// Registration has the defaults of the fields that a worker file omits, such as events, priority
	// and on_failure. Its ID is empty.
	Registration chain.Registration
	// Kind builds the hook from its options.
	kind.Kind
}

// Of returns the builtin that builds a hook from options of type C.
func Of[C any](summary string, reg chain.Registration, build func(kind.Section, C) (kind.Hook, error)) Builtin {
	return Builtin{reg, kind.Of(summary, build)}
}

// Complete sets the fields that the file omits from the section's registration to their defaults.
// It refuses an effect that the builtin does not have.
func (b Builtin) Complete(s kind.Section) error {
	r, own := s.Registration, b.Registration
	for field, fill := range map[string]func(){
		"events":      func() { r.Events = own.Events },
		"priority":    func() { r.Priority = own.Priority },
		"timeout_ms":  func() { r.TimeoutMS = own.TimeoutMS },
		"on_failure":  func() { r.OnFailure = own.OnFailure },
		"mode":        func() { r.Mode = own.Mode },
		"match":       func() { r.Match = own.Match },
		"effect":      func() { r.Effect = own.Effect },
		"replay_safe": func() { r.ReplaySafe = own.ReplaySafe },
	} {
		if !s.Given(field) {
			fill()
		}
	}
	if r.Effect == chain.Validates && own.Effect != chain.Validates {
		return errors.New("this builtin has side effects or changes the data: remove effect: validate")
	}
	return nil
}
