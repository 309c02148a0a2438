package builtin

import (
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// Builtin is a hook that comes with hook-worker.
type Builtin struct {
	// Registration is what holds where a file does not say otherwise: the events, the
	// priority, what a failure means. Its ID is empty.
	Registration chain.Registration
	// Kind builds the hook from its options.
	kind.Kind
}

// Of is the builtin that builds a hook from options of type C.
func Of[C any](summary string, reg chain.Registration, build func(kind.Section, C) (kind.Hook, error)) Builtin {
	return Builtin{reg, kind.Of(summary, build)}
}

// Complete fills in what the file leaves out of the section's registration.
func (b Builtin) Complete(s kind.Section) {
	r := s.Registration
	if !s.Given("events") {
		r.Events = b.Registration.Events
	}
	if !s.Given("priority") {
		r.Priority = b.Registration.Priority
	}
	if !s.Given("timeout_ms") {
		r.TimeoutMS = b.Registration.TimeoutMS
	}
	if !s.Given("on_failure") {
		r.OnFailure = b.Registration.OnFailure
	}
	if !s.Given("mode") {
		r.Mode = b.Registration.Mode
	}
	if !s.Given("match") {
		r.Match = b.Registration.Match
	}
	if !s.Given("replay_safe") {
		r.ReplaySafe = b.Registration.ReplaySafe
	}
}
