package chain

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// Registry runs hooks in this process: the specification's HookRegistry. The zero Registry is
// ready to use. It is safe for concurrent use.
type Registry struct {
	// Compile returns the condition for a registration's match. If it is nil, a registration with a
	// match is rejected. Do not change it after registering a hook.
	Compile func(Registration) (func(*View) (bool, error), error)

	table atomic.Pointer[Table]

	mu       sync.Mutex // guards next and defaults, and changes of table
	next     uint64
	defaults map[string]any
}

func (r *Registry) snapshot() *Table {
	if t := r.table.Load(); t != nil {
		return t
	}
	return &Table{}
}

// Register adds a hook and returns a function that removes it; calling that again does nothing. The
// registration's id must be unused. Names may repeat.
func (r *Registry) Register(reg Registration, hook Hook) (unregister func(), err error) {
	if len(reg.Channels) > 0 {
		return nil, fmt.Errorf("hook %q: channels are for Contribute", reg.ID)
	}
	return r.add(reg, hook)
}

// Contribute adds a contributor to the channels of a registration, and returns a function that
// removes it.
func (r *Registry) Contribute(reg Registration, contribute func(ctx context.Context, channel string) (any, error)) (unregister func(), err error) {
	if len(reg.Channels) == 0 {
		return nil, fmt.Errorf("contributor %q: it has no channels", reg.ID)
	}
	return r.add(reg, func(ctx context.Context, ev events.Event) (Result, error) {
		value, err := contribute(ctx, ev.Name)
		if err != nil || value == nil {
			return Result{}, err
		}
		raw, err := json.Marshal(value)
		if err != nil || string(raw) == "null" {
			return Result{}, err
		}
		return Result{Data: raw}, nil
	})
}

func (r *Registry) add(reg Registration, hook Hook) (unregister func(), err error) {
	if err := reg.Check(); err != nil {
		return nil, err
	}
	var condition func(*View) (bool, error)
	if reg.Match != "" {
		if r.Compile == nil {
			return nil, fmt.Errorf("hook %q: this registry compiles no match", reg.ID)
		}
		if condition, err = r.Compile(reg); err != nil {
			return nil, fmt.Errorf("hook %q: %w", reg.ID, err)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	table := r.snapshot()
	if table.Get(reg.ID) != nil {
		return nil, fmt.Errorf("hook %q is registered already", reg.ID)
	}
	r.next++
	entry := &Entry{Registration: reg, Order: r.next, Condition: condition, Hook: hook}
	r.table.Store(table.Apply(Change{reg.ID, entry}))
	return func() { r.remove(entry) }, nil
}

// On is Register under the name that the specification keeps for older programs.
func (r *Registry) On(reg Registration, hook Hook) (unregister func(), err error) {
	return r.Register(reg, hook)
}

func (r *Registry) remove(entry *Entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if table := r.snapshot(); table.Get(entry.ID) == entry {
		r.table.Store(table.Apply(Change{ID: entry.ID}))
	}
}

// SetDefaultFields sets fields that are added to the data of every event before hooks see it,
// unless the data has a field of that name. It replaces earlier default fields.
func (r *Registry) SetDefaultFields(fields map[string]any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.defaults = maps.Clone(fields)
}

// ListHandlers returns hook names by the pattern they registered, in execution order. With an
// event, it lists only the hooks registered for exactly that name.
func (r *Registry) ListHandlers(event string) map[string][]string {
	return r.snapshot().Handlers(event)
}

// Emit runs the hooks of an event over data, which must marshal to a JSON object, and returns their
// result.
func (r *Registry) Emit(ctx context.Context, event string, data any) (Result, error) {
	out, _, err := r.Run(ctx, "", event, data)
	return out.Result, err
}

// Run is like Emit but returns the outcome of the chain, and the event as the chain began with it.
// session is the event's session and must match that of the data, if both are set.
func (r *Registry) Run(ctx context.Context, session, event string, data any) (Outcome, events.Event, error) {
	ev, obj, err := newEvent(event, data)
	if err != nil {
		return Outcome{}, events.Event{}, err
	}
	if session != "" && ev.Session != "" && ev.Session != session {
		return Outcome{}, events.Event{}, fmt.Errorf("emit %s: the data is of session %q, not of %q", event, ev.Session, session)
	}
	ev.Session = cmp.Or(ev.Session, session)
	entries := r.snapshot().For(event, ev.Session)
	if len(entries) > 0 {
		r.mu.Lock()
		fields := r.defaults
		r.mu.Unlock()
		_, below, err := newEvent(event, fields)
		if err != nil {
			return Outcome{}, events.Event{}, fmt.Errorf("default fields: %w", err)
		}
		ev.Data = obj.Over(below, events.Now())
	}
	out, err := Run(ctx, entries, ev, Plan{Call: InProcess})
	return out, ev, err
}

// CollectContributions calls the contributors of a channel concurrently and returns their values in
// registration order. timeout is as for EmitAndCollect.
func (r *Registry) CollectContributions(ctx context.Context, channel string, timeout time.Duration) ([]json.RawMessage, error) {
	if err := events.CheckChannel(channel); err != nil {
		return nil, err
	}
	return r.collect(ctx, r.snapshot().Channel(channel), events.Event{Name: channel}, timeout, inProcess), nil
}

// EmitAndCollect calls the hooks of an event concurrently and returns their data in execution
// order. timeout bounds each call; 0 means one second.
func (r *Registry) EmitAndCollect(ctx context.Context, event string, data any, timeout time.Duration) ([]json.RawMessage, error) {
	ev, _, err := newEvent(event, data)
	if err != nil {
		return nil, err
	}
	return r.collect(ctx, r.snapshot().For(event, ev.Session), ev, timeout, InProcess), nil
}

func (r *Registry) collect(ctx context.Context, entries []*Entry, ev events.Event, timeout time.Duration, call Caller) []json.RawMessage {
	if timeout <= 0 {
		timeout = time.Second
	}
	list := []json.RawMessage{}
	for _, c := range Collect(ctx, entries, ev, timeout, call) {
		if c.Err == nil && c.Data != nil {
			list = append(list, c.Data)
		}
	}
	return list
}

func newEvent(name string, data any) (events.Event, events.Object, error) {
	raw, ok := data.(json.RawMessage)
	if !ok {
		var err error
		if raw, err = json.Marshal(data); err != nil {
			return events.Event{}, events.Object{}, fmt.Errorf("emit %s: %w", name, err)
		}
	}
	if len(raw) == 0 || string(raw) == "null" {
		raw = []byte("{}")
	}
	if err := events.CheckName(name); err != nil {
		return events.Event{}, events.Object{}, err
	}
	ev, obj, err := events.Decode(name, nil, raw)
	if err != nil {
		return events.Event{}, events.Object{}, fmt.Errorf("emit %s: %w", name, err)
	}
	return ev, obj, nil
}
