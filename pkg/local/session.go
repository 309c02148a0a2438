package local

import (
	"context"
	"sync"
	"time"

	"github.com/hookrouter/hookrouter/internal/policy/match"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// NewRegistry returns an empty registry that compiles the match of registrations.
func NewRegistry() *chain.Registry { return &chain.Registry{Compile: match.Condition} }

// Asker asks a person and returns one of the record's options. ctx ends with the time to answer.
// The record's default applies then, or if Asker returns an error.
type Asker func(ctx context.Context, asked approval.Record) (option string, err error)

// Options configure a session. The zero value has no session id and denies the hooks' questions.
type Options struct {
	// ID of the session; empty means the session that the event's data names.
	ID string
	// Ask answers the hooks' questions; nil denies them. It may be called concurrently.
	Ask Asker
	// Limits bound injections; zero fields mean those of [verdict.DefaultLimits].
	Limits verdict.Limits
}

// Session runs the events of one session, or of all sessions that the events' data names. It keeps
// the injection budget and the "Allow always" of each. It is safe for concurrent use, and there is
// nothing to close.
type Session struct {
	hooks   *chain.Registry
	options Options

	mu     sync.Mutex        // guards states and their contents
	states map[string]*state // by session id, until the session ends
}

// state is the state of one session between events.
type state struct {
	prompted bool              // prompt:submit began this turn, and execution:start has not followed yet
	used     int               // tokens of this turn
	always   map[string]string // ids of the approval requests that allowed always, by key
}

// NewSession makes a session with the hooks of a registry.
func NewSession(hooks *chain.Registry, o Options) *Session {
	return &Session{hooks: hooks, options: o, states: map[string]*state{}}
}

// Execute runs the hooks of an event over data, which must marshal to a JSON object, asks a person
// if a hook requires it, and returns a verdict: continue or deny. Only continue is a permission. An
// error permits nothing and means that nothing was decided.
//
// Turns begin as in a router: at prompt:submit, and at execution:start unless prompt:submit has
// begun the turn. After session:end the session starts afresh.
func (s *Session) Execute(ctx context.Context, event string, data any) (verdict.Verdict, error) {
	out, ev, err := s.hooks.Run(ctx, s.options.ID, event, data)
	if err != nil {
		return verdict.Verdict{}, err
	}
	v, st := s.compose(out, ev)
	if v.Action == verdict.Pending {
		if v, err = s.ask(ctx, st, out, ev, v); err != nil {
			return verdict.Verdict{}, err
		}
	}
	if event == events.SessionEnd {
		s.mu.Lock()
		delete(s.states, ev.Session)
		s.mu.Unlock()
	}
	return v, nil
}

func (s *Session) compose(out chain.Outcome, ev events.Event) (verdict.Verdict, *state) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.states[ev.Session]
	if st == nil {
		st = &state{always: map[string]string{}}
		s.states[ev.Session] = st
	}
	st.begin(ev.Name)
	v := verdict.Compose(out, ev, s.options.Limits, st.used, time.Now())
	st.used = v.InjectedTokens
	return v, st
}

// begin begins a turn if the event starts one.
func (st *state) begin(event string) {
	switch event {
	case events.PromptSubmit:
		st.used, st.prompted = 0, true
	case events.ExecutionStart:
		if !st.prompted {
			st.used = 0
		}
		st.prompted = false
	}
}
