package registry

import (
	"context"
	"encoding/json"
	"fmt"
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

func (p pin) at() uint64 { return p.revision }

// Pinned returns the guards pinned by order, or [ErrStale] if this replica holds no lease and so
// may miss an order.
func (r *Registry) Pinned() (*pinned.Guards, error) {
	if !r.Current() {
		return nil, ErrStale
	}
	return r.guards.Load(), nil // read after the lease: newer orders are right too
}

// Pins returns the orders in force, oldest first.
func (r *Registry) Pins() ([]pinned.Order, error) {
	if !r.Current() {
		return nil, ErrStale
	}
	return r.pinOrders(), nil
}

// pinOrders is Pins without a lease.
func (r *Registry) pinOrders() []pinned.Order {
	list := []pinned.Order{}
	for _, one := range r.pins.oldestFirst() {
		if one.inForce() {
			list = append(list, one.Order)
		}
	}
	return list
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
	_, err = r.pins.write(ctx, Change{Action: "pinned", Hook: o.ID, By: o.By, Registration: registration}, func(old pin) (bool, []byte, error) {
		switch {
		case old.inForce() && o.Same(old.Guard):
			return false, nil, nil
		case old.inForce():
			return true, body, o.Check(old.Order)
		case len(r.pinOrders()) >= maxPins:
			return false, nil, wire.Errorf(wire.Overloaded, "%d guards are pinned, which is the limit: unpin some", maxPins)
		}
		return true, body, nil
	})
	return err
}

// Unpin lifts the order about a guard and reports whether there was one. It returns when every
// replica knows.
func (r *Registry) Unpin(ctx context.Context, by, id string) (unpinned bool, err error) {
	return r.pins.write(ctx, Change{Action: "unpinned", Hook: id, By: by}, func(old pin) (bool, []byte, error) {
		return old.inForce(), fmt.Appendf(nil, `{"id":%q,"unpinned":%q}`, id, time.Now().UTC().Format(time.RFC3339)), nil
	})
}

// readPin reads the record of an order. An order that is merely deleted from the bucket stays in
// force and counts as lost. An unreadable record refuses every event.
func (r *Registry) readPin(id string, e natsx.Entry, old pin) pin {
	if e.Value == nil {
		if old.inForce() {
			r.lose(id, "was pinned, but its order was deleted from the bucket of registrations")
		}
		return old
	}
	var one pin
	if err := json.Unmarshal(e.Value, &one); err != nil || one.ID != id {
		r.options.Log.Error("order about a guard unreadable; refusing events", "hook", id, "error", err)
		one = pin{Order: pinned.Order{Guard: pinned.Guard{ID: id}}} // without events, so that no check passes
	}
	one.revision = e.Revision
	return one
}
