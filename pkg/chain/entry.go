package chain

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// Hook answers one event. It must not write to ev.Data, which is not a copy. An error is a
// failure of the hook, never a denial.
type Hook func(ctx context.Context, ev events.Event) (Result, error)

// Entry is a registered hook in its place in a chain. It is immutable once it is in a [Table].
type Entry struct {
	Registration
	// Order is when the hook was first registered, relative to others. It breaks ties between
	// equal priorities.
	Order uint64
	// Condition decides whether the hook is called for an event; nil means always. An
	// error counts as a failure of the hook.
	Condition func(*View) (bool, error)
	// Echoes says that every instance repeats a call's id in its reply, so that a reply without
	// it comes from somebody else.
	Echoes bool
	// Hook is the code to call; nil if only the [Caller] knows how.
	Hook Hook
}

// Caller calls the hook of an entry. Time-outs, panics, spans and metrics are wrappers around a
// Caller, so that [Run] need not know them.
type Caller func(ctx context.Context, entry *Entry, ev events.Event) (Result, error)

// View is the event as the [Entry.Condition] of each entry sees it. The first one that needs the
// data decodes it. A View is used by one goroutine.
type View struct {
	Event   string
	Session string
	Data    json.RawMessage
	// Extensions are the event's attributes, [events.AttrLabels] among them.
	Extensions map[string]string
	decoded    any
}

// ViewOf returns an event's view for conditions.
func ViewOf(ev events.Event) *View {
	return &View{Event: ev.Name, Session: ev.Session, Data: ev.Data, Extensions: ev.Extensions}
}

// Decoded returns what decode made of the view on its first call. It runs at most once for a
// view, however many entries look.
func (v *View) Decoded(decode func(*View) any) any {
	if v.decoded == nil {
		v.decoded = decode(v)
	}
	return v.decoded
}

// compare compares two entries by their order in a chain.
func compare(a, b *Entry) int {
	return cmp.Or(cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.Order, b.Order))
}
