package chain

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// Hook answers one event. It must not write to ev.Data, which it shares. An error is a failure of
// the hook, never a denial.
type Hook func(ctx context.Context, ev events.Event) (Result, error)

// Entry is a registered hook in a chain. It is immutable once it is in a [Table].
type Entry struct {
	Registration
	// Order is the position of the hook's first registration among all. It orders hooks with equal
	// priorities.
	Order uint64
	// Condition reports whether to call the hook for an event; nil means always. An error counts as
	// a failure of the hook.
	Condition func(*View) (bool, error)
	// Echoes is set if every instance repeats the call's id in its reply. A reply without the id
	// then comes from another sender.
	Echoes bool
	// Hook is the code to call; nil if only the [Caller] can call it.
	Hook Hook
}

// Caller calls the hook of an entry. Time-outs, panics, spans and metrics are wrappers around a
// Caller, so that [Run] does not deal with them.
type Caller func(ctx context.Context, entry *Entry, ev events.Event) (Result, error)

// View is the event as seen by the Condition of each [Entry]. The data is decoded once, when a
// condition first needs it. A View is not safe for concurrent use.
type View struct {
	Event   string
	Session string
	Data    json.RawMessage
	// Extensions are the event's attributes, including [events.AttrLabels].
	Extensions map[string]string
	decoded    any
}

// ViewOf returns the view of an event.
func ViewOf(ev events.Event) *View {
	return &View{Event: ev.Name, Session: ev.Session, Data: ev.Data, Extensions: ev.Extensions}
}

// Decoded returns the result of decode, which it calls at most once for a view.
func (v *View) Decoded(decode func(*View) any) any {
	if v.decoded == nil {
		v.decoded = decode(v)
	}
	return v.decoded
}

// compare orders entries as a chain runs them.
func compare(a, b *Entry) int {
	return cmp.Or(cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.Order, b.Order))
}
