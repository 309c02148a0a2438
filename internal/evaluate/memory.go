package evaluate

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// recordedAnswers answers for hooks as recorded with their chain. It is used for one run of a
// chain, by one goroutine.
type recordedAnswers struct {
	answers []Answer
	places  map[string]placed // by hook id

	used, assumed []string // hook ids
}

// placed is an answer, with the data that the hook received.
type placed struct {
	Answer
	data json.RawMessage
}

// newMemory returns the recorded answers of a chain. data is the input of the first hook.
func newMemory(data json.RawMessage, answers []Answer) *recordedAnswers {
	m := &recordedAnswers{answers: answers, places: make(map[string]placed, len(answers))}
	for _, a := range answers {
		m.places[a.ID] = placed{a, data}
		if a.Action == chain.Modify && a.Data != nil {
			data = a.Data
		}
	}
	return m
}

// Knows reports whether a hook answered, or failed to answer, in the recorded chain.
func (m *recordedAnswers) Knows(id string) bool {
	p, ok := m.places[id]
	return ok && p.Failure != chain.FailedMatch
}

// Ended returns the id of the hook whose denial ended the chain, or "" if there was none. The
// answers of later hooks are unknown.
func (m *recordedAnswers) Ended() string {
	if len(m.answers) == 0 {
		return ""
	}
	last := m.answers[len(m.answers)-1]
	if last.Action == chain.Deny || last.Failure != "" && !last.FailedOpen {
		return last.ID
	}
	return ""
}

// Call implements [chain.Caller] for the hooks that m knows.
func (m *recordedAnswers) Call(_ context.Context, entry *chain.Entry, ev events.Event) (chain.Result, error) {
	p := m.places[entry.ID]
	m.used = append(m.used, entry.ID)
	if !same(p.data, ev.Data) {
		m.assumed = append(m.assumed, entry.ID)
	}
	if p.Failure != "" {
		return chain.Result{}, p.failed()
	}
	return chain.Result{Action: p.Action, Reason: p.Reason, Data: p.Data, ContextInjection: p.Injection, Labels: p.Labels}, nil
}

// failed returns an error of the answer's failure class.
func (a Answer) failed() error {
	switch a.Failure {
	case chain.FailedTimeout:
		return context.DeadlineExceeded
	case chain.FailedNoResponder:
		return chain.ErrNoResponder
	case chain.FailedInvalid:
		return fmt.Errorf("%w: %s", chain.ErrInvalidResult, a.Error)
	default:
		return errors.New(a.Error)
	}
}

// Entries returns the hooks of the recorded chain in execution order. A hook that failed and denied
// does so again. [recordedAnswers.Call] calls them.
func (m *recordedAnswers) Entries() []*chain.Entry {
	list := make([]*chain.Entry, len(m.answers))
	for i, a := range m.answers {
		entry := &chain.Entry{Registration: chain.Registration{ID: a.ID}}
		if a.Failure != "" && !a.FailedOpen {
			entry.OnFailure = chain.FailClosed
		}
		if a.Failure == chain.FailedMatch {
			entry.Condition = func(*chain.View) (bool, error) { return false, a.failed() }
		}
		list[i] = entry
	}
	return list
}

// asEvent returns the recorded event, with the input of the first hook and what the router knew of
// the session and the sender. Of the session's ancestors, the log names only the root.
func (c *Recording) asEvent() events.Event {
	ev := events.Event{ID: c.EventID, Source: c.Agent, Name: c.Event, Session: c.Session, Time: events.Stamp(c.Time), Data: c.Data}
	if ev.ID == "" {
		ev.ID = events.NewID()
	}
	ev.Source = cmp.Or(ev.Source, events.DefaultSource)
	if c.Depth > 0 {
		ev = ev.WithAttr(events.AttrRoot, c.Root).WithAttr(events.AttrDepth, strconv.Itoa(c.Depth))
	}
	if c.Depth == 1 {
		ev = ev.WithAttr(events.AttrParent, c.Root)
	}
	return ev.WithEmitter(c.Emitter).WithLabels(c.Labels...)
}
