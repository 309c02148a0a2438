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

// Asker asks a person and returns one of the record's options. ctx ends when the time to answer
// is over. Then, or if it fails, the record's default applies.
type Asker func(ctx context.Context, asked approval.Record) (option string, err error)

// Options of a session. The zero Options are a nameless session that asks nobody: questions of
// hooks are denied.
type Options struct {
	// ID of the session; empty means that of each event's data.
	ID string
	// Ask answers the questions of hooks; nil denies them. It may be called concurrently.
	Ask Asker
	// Limits bound what hooks inject; the zero Limits are [verdict.DefaultLimits].
	Limits verdict.Limits
}

// Session is one run of an agent, or several that their events' data names, each with its
// injection budget and what is always allowed. It is safe for concurrent use, and there is nothing
// to close.
type Session struct {
	hooks   *chain.Registry
	options Options

	mu     sync.Mutex        // guards what follows, and the states
	states map[string]*state // by session, until it ends
}

// state is what one session leaves to its next event.
type state struct {
	prompted bool              // a prompt:submit began this turn and no execution:start followed yet
	used     int               // tokens of the turn
	always   map[string]string // the approval requests that are always allowed, by what they are for
}

// NewSession makes a session with the hooks of a registry.
func NewSession(hooks *chain.Registry, o Options) *Session {
	return &Session{hooks: hooks, options: o, states: map[string]*state{}}
}

// Execute runs the hooks of an event over data, which must marshal to a JSON object, asks
// where a hook asks, and returns a verdict whose action is continue or deny. Only continue
// is a permission: an error is none, and means that nothing was decided.
//
// A turn begins as with a router: at prompt:submit, and at execution:start unless a
// prompt:submit began it. After session:end the session is as new.
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

// begin begins a turn if the event does.
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
