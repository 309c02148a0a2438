package registry

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/pinned"
	"github.com/hookrouter/hookrouter/internal/wire"
)

// pinKey prefixes the keys of pinned guards. The guard's id follows.
const pinKey = "pin."

// maxPins bounds the guards pinned by order.
const maxPins = 1000

// pin is an order's record at its revision.
type pin struct {
	pinned.Order
	// Unpinned is when the guard was unpinned. It makes the record a tombstone, so that the
	// order does not count as lost.
	Unpinned *time.Time `json:"unpinned,omitempty"`

	revision uint64
}

// inForce reports whether the order exists and was not lifted.
func (p pin) inForce() bool { return p.revision != 0 && p.Unpinned == nil }

// pins holds the orders by guard id, and the guards that they put in force. It is immutable once
// published.
type pins struct {
	byID   map[string]pin
	guards *pinned.Guards
}

func newPins(byID map[string]pin) *pins {
	p := &pins{byID: byID}
	p.guards = pinned.Ordered(p.orders())
	return p
}

// orders returns the orders in force, oldest first.
func (p *pins) orders() []pinned.Order {
	list := []pinned.Order{}
	for _, one := range slices.SortedFunc(maps.Values(p.byID), func(a, b pin) int { return cmp.Compare(a.revision, b.revision) }) {
		if one.Unpinned == nil {
			list = append(list, one.Order)
		}
	}
	return list
}

// Pinned returns the guards pinned by order, or [ErrStale] if this replica holds no lease and so
// may miss an order.
func (r *Registry) Pinned() (*pinned.Guards, error) {
	if !r.Current() {
		return nil, ErrStale
	}
	return r.pins.Load().guards, nil // read after the lease: newer orders are right too
}

// Pins returns the orders in force, oldest first.
func (r *Registry) Pins() ([]pinned.Order, error) {
	if !r.Current() {
		return nil, ErrStale
	}
	return r.pins.Load().orders(), nil
}

// Pin puts an order into force. After it returns without an error, every replica enforces it for
// the events that it admits. An order that replaces another must not ask for less.
func (r *Registry) Pin(ctx context.Context, o pinned.Order) error {
	body, err := json.Marshal(pin{Order: o})
	if err != nil {
		return fmt.Errorf("pin a guard: %w", err)
	}
	registration, err := json.Marshal(o.Guard)
	if err != nil {
		return fmt.Errorf("pin a guard: %w", err)
	}
	return r.writePin(ctx, Change{Action: "pinned", Hook: o.ID, By: o.By, Registration: registration}, func(old pin, orders int) ([]byte, error) {
		switch {
		case old.inForce() && o.Same(old.Guard):
			return nil, nil
		case old.inForce():
			return body, o.Check(old.Order)
		case orders >= maxPins:
			return nil, wire.Errorf(wire.Overloaded, "%d guards are pinned, which is the limit: unpin some", maxPins)
		}
		return body, nil
	})
}

// Unpin lifts the order about a guard and reports whether there was one. It returns when every
// replica knows.
func (r *Registry) Unpin(ctx context.Context, by, id string) (unpinned bool, err error) {
	err = r.writePin(ctx, Change{Action: "unpinned", Hook: id, By: by}, func(old pin, _ int) ([]byte, error) {
		if !old.inForce() {
			return nil, nil
		}
		unpinned = true
		return fmt.Appendf(nil, `{"id":%q,"unpinned":%q}`, id, time.Now().UTC().Format(time.RFC3339)), nil
	})
	return unpinned && err == nil, err
}

// writePin records a change and writes the record of one guard. next gets the current record and
// the number of orders in force, and returns the new record; nil for no change. writePin returns
// when every replica knows the record.
func (r *Registry) writePin(ctx context.Context, change Change, next func(old pin, orders int) ([]byte, error)) error {
	record := r.recorder(ctx)
	return r.update(ctx, func() (uint64, error) {
		known := r.pins.Load()
		old := known.byID[change.Hook]
		body, err := next(old, len(known.orders()))
		if err != nil {
			return 0, err
		}
		if body == nil {
			return max(r.read.Load(), old.revision), nil
		}
		change.Revision = old.revision
		if err := record(change); err != nil {
			return 0, err
		}
		return r.writeOrder(ctx, change, pinKey+change.Hook, body)
	})
}

// pinned returns the orders after a batch of the log. An order that is merely deleted from the
// bucket stays in force and is lost. An unreadable record stops every event.
func (f *follower) pinned(batch []natsx.Entry) *pins {
	next := f.pins
	for _, e := range batch {
		id, ok := strings.CutPrefix(e.Key, pinKey)
		if !ok {
			continue
		}
		f.seenPins[id] = true
		if e.Value == nil {
			if old, known := next.byID[id]; known && old.Unpinned == nil {
				f.registry.lose(id, "was pinned, and the order was deleted from the bucket of registrations")
			}
			continue
		}
		var one pin
		if err := json.Unmarshal(e.Value, &one); err != nil || one.ID != id {
			f.registry.options.Log.Error("order about a guard unreadable; refusing events", "hook", id, "error", err)
			one = pin{Order: pinned.Order{Guard: pinned.Guard{ID: id}}} // without events, so that no check passes
		}
		one.revision = e.Revision
		if next == f.pins {
			next = &pins{byID: maps.Clone(f.pins.byID)}
		}
		next.byID[id] = one
	}
	if next != f.pins {
		next = newPins(next.byID)
	}
	return next
}

// missingPins looks for orders that this replica knew before it began to follow and of which the
// bucket has no record.
func (f *follower) missingPins() {
	for id, one := range f.pins.byID {
		if one.Unpinned == nil && !f.seenPins[id] {
			f.registry.lose(id, "was pinned, and the order is not in the bucket of registrations any more")
		}
	}
}
