package chain

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// Registry runs hooks that live in this process: the specification's
// HookRegistry. The zero Registry is ready to use, and safe for concurrent use.
type Registry struct {
	table atomic.Pointer[Table]

	mu       sync.Mutex // guards what follows, and changes of table
	next     uint64
	defaults map[string]any
}

func (r *Registry) snapshot() *Table {
	if t := r.table.Load(); t != nil {
		return t
	}
	return &Table{}
}

// Register adds a hook and returns a function that removes it; a second call of
// that function does no harm. The registration's id must be new; its match is
// not evaluated here: give the hook a condition of its own. Names may repeat.
func (r *Registry) Register(reg Registration, hook Hook) (unregister func(), err error) {
	if err := reg.Check(); err != nil {
		return nil, err
	}
	if reg.Match != "" || len(reg.Channels) > 0 {
		return nil, fmt.Errorf("hook %q: match and channels need a router", reg.ID)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	table := r.snapshot()
	if table.Get(reg.ID) != nil {
		return nil, fmt.Errorf("hook %q is registered already", reg.ID)
	}
	r.next++
	entry := &Entry{Registration: reg, Order: r.next, Hook: hook}
	r.table.Store(table.Apply(Change{reg.ID, entry}))
	return func() { r.remove(entry) }, nil
}

// On is Register under the name the specification keeps for older programs.
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

// SetDefaultFields sets the fields that are merged below the data of every event
// that a hook gets; it replaces the earlier ones.
func (r *Registry) SetDefaultFields(fields map[string]any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.defaults = maps.Clone(fields)
}

// ListHandlers lists hook names by the pattern they registered, in execution
// order; with an event, those registered for exactly that name.
func (r *Registry) ListHandlers(event string) map[string][]string {
	return r.snapshot().Handlers(event)
}

// Emit runs the hooks of an event over data, which must marshal to a JSON
// object, and returns what they decided.
func (r *Registry) Emit(ctx context.Context, event string, data any) (Result, error) {
	ev, obj, err := newEvent(event, data)
	if err != nil {
		return Result{}, err
	}
	entries := r.snapshot().For(event, ev.Session)
	if len(entries) > 0 {
		r.mu.Lock()
		fields := r.defaults
		r.mu.Unlock()
		_, below, err := newEvent(event, fields)
		if err != nil {
			return Result{}, fmt.Errorf("default fields: %w", err)
		}
		ev.Data = obj.Over(below, events.Now())
	}
	out, err := Run(ctx, entries, ev, Plan{Call: InProcess})
	return out.Result, err
}

// EmitAndCollect calls the hooks of an event at the same time and returns the
// data they gave, in execution order. timeout bounds each; 0 means one second.
func (r *Registry) EmitAndCollect(ctx context.Context, event string, data any, timeout time.Duration) ([]json.RawMessage, error) {
	ev, _, err := newEvent(event, data)
	if err != nil {
		return nil, err
	}
	if timeout <= 0 {
		timeout = time.Second
	}
	list := []json.RawMessage{}
	for _, c := range Collect(ctx, r.snapshot().For(event, ev.Session), ev, timeout, InProcess) {
		if c.Err == nil && c.Data != nil {
			list = append(list, c.Data)
		}
	}
	return list, nil
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
