package registry

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/hookrouter/hookrouter/internal/freeze"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/wire"
)

// freezeKey prefixes the keys of orders; see [freeze.Order.Key].
const freezeKey = "freeze."

// maxFrozen bounds the orders in force.
const maxFrozen = 1000

// frozen is an order at its revision.
type frozen struct {
	freeze.Order
	revision uint64
}

func (f frozen) at() uint64 { return f.revision }

// Frozen returns the order that covers an agent's event, nil for none, or [ErrStale] if this
// replica holds no lease and so may miss an order.
func (r *Registry) Frozen(agent, session string) (*freeze.Order, error) {
	if !r.Current() {
		return nil, ErrStale
	}
	for _, f := range r.frozen.known() { // read after the lease: newer orders are right too
		if f.Covers(agent, session) {
			return &f.Order, nil
		}
	}
	return nil, nil
}

// Freezes returns the orders in force, oldest first.
func (r *Registry) Freezes() ([]freeze.Order, error) {
	if !r.Current() {
		return nil, ErrStale
	}
	list := []freeze.Order{}
	for _, f := range r.frozen.oldestFirst() {
		list = append(list, f.Order)
	}
	return list, nil
}

// Freeze puts an order into force. After it returns without an error, every replica knows the
// order, or has no lease and so permits nothing.
func (r *Registry) Freeze(ctx context.Context, o freeze.Order) error {
	if !r.Current() {
		return ErrStale
	}
	known := r.frozen.known()
	if _, again := known[o.Key()]; !again && len(known) >= maxFrozen {
		return wire.Errorf(wire.Overloaded, "%d freeze orders are in force, which is the limit: thaw some, or freeze all", maxFrozen)
	}
	body, err := json.Marshal(o)
	if err != nil {
		return fmt.Errorf("freeze: %w", err)
	}
	writing, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	revision, err := r.bucket.Put(writing, freezeKey+o.Key(), body)
	if err != nil {
		return storeError("the order", err)
	}
	return r.seenByAll(ctx, revision)
}

// Thaw lifts the order of the same scope, whatever its reason, and reports whether there was
// one. It returns when every replica knows.
func (r *Registry) Thaw(ctx context.Context, o freeze.Order) (thawed bool, err error) {
	err = r.update(ctx, func() (uint64, error) {
		for key, f := range r.frozen.known() {
			if f.Key() != o.Key() { // an unreadable order may have another key
				continue
			}
			revision, err := r.bucket.Update(ctx, freezeKey+key, []byte(`{"thawed":true}`), f.revision)
			thawed = err == nil
			return revision, storeError("the thaw", err)
		}
		return r.read.Load(), nil
	})
	return thawed, err
}

// readFreeze reads the record of an order. A thaw is a record too: an order that is merely deleted
// from the bucket stays in force until it is thawed. An unreadable record freezes everything.
func readFreeze(_ string, e natsx.Entry, old frozen) frozen {
	if e.Value == nil {
		if old.revision != 0 {
			old.revision = e.Revision // a thaw replaces the delete marker
		}
		return old
	}
	var stored struct {
		freeze.Order
		Thawed bool `json:"thawed"`
	}
	if err := json.Unmarshal(e.Value, &stored); err != nil {
		stored.Order = freeze.Order{Reason: "a freeze order can't be read: thaw all and freeze again", Time: time.Now()}
	}
	if stored.Thawed {
		return frozen{}
	}
	return frozen{stored.Order, e.Revision}
}
