package registry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/natsx"
)

// inventoryKey is the key of the [inventory].
const inventoryKey = "inventory"

// inventory lists the keys of the durable hooks, pins and orders to freeze that the bucket holds. A
// record that is purged or damaged while no router runs leaves no other trace.
type inventory struct {
	Keys []string `json:"keys"` // sorted

	revision uint64
}

// durable returns the keys of the hooks and pins that the bucket must hold, and an inventory that is
// not newer. Nobody removes their records: to unregister, to unpin and to thaw is to write another.
func (r *Registry) durable() (keys []string, last inventory) {
	r.mu.Lock()
	last = r.inventory
	for id, h := range r.known {
		if h.Registration.StaysRegistered() {
			keys = append(keys, hookKey+id)
		}
	}
	r.mu.Unlock()
	for id, one := range r.pins.known() {
		if one.inForce() {
			keys = append(keys, pinKey+id)
		}
	}
	slices.Sort(keys)
	return keys, last
}

// loseRecord notes that the bucket does not hold a durable record any more. marker says whether it
// holds the marker of a deletion instead.
func (r *Registry) loseRecord(key string, marker bool) {
	if id, ok := strings.CutPrefix(key, hookKey); ok && marker {
		r.lose(id, wasDeleted)
	} else if ok {
		r.lose(id, "is not in the bucket of registrations any more")
	} else if id, ok := strings.CutPrefix(key, pinKey); ok {
		r.lose(id, "was pinned, and the order is not in the bucket of registrations any more")
	} else {
		r.lose("", key+" is not in the bucket of registrations any more")
	}
}

// takeInventory stores what the bucket must hold, which is keys and the orders to freeze, unless the
// last inventory says the same. If another replica stores it first, it does so for both.
func (r *Registry) takeInventory(ctx context.Context, keys []string, freezes map[string]frozen, last inventory) error {
	for key := range freezes {
		keys = append(keys, freezeKey+key)
	}
	slices.Sort(keys)
	r.mu.Lock()
	void := last.revision <= r.accepted
	r.mu.Unlock()
	if r.lost.Load() != nil || slices.Equal(last.Keys, keys) && (!void || len(keys) == 0) {
		return nil
	}
	body, err := json.Marshal(inventory{Keys: keys})
	if err != nil {
		return fmt.Errorf("store what the bucket holds: %w", err)
	}
	if _, err := r.bucket.Update(ctx, inventoryKey, body, last.revision); err != nil && !errors.Is(err, natsx.ErrRevision) {
		return err
	}
	return nil
}

// holds notes a record that the log brings, or the inventory. The caller holds the registry's mu.
func (f *follower) holds(e natsx.Entry) {
	switch {
	case e.Key == inventoryKey && e.Value != nil:
		last := inventory{revision: e.Revision}
		if err := json.Unmarshal(e.Value, &last); err != nil {
			last.Keys = []string{inventoryKey} // anything may be missing
		}
		f.registry.inventory = last
	case f.held != nil && !strings.HasPrefix(e.Key, labelKey):
		f.held[e.Key] = e.Value != nil
	}
}

// compare looks for records that the whole bucket, which was just read, does not hold: of the
// hooks and pins that this replica knew before it began to follow, and of the inventory. A loss that
// was accepted after the inventory is none.
func (f *follower) compare() {
	r := f.registry
	keys, last := r.durable()
	r.mu.Lock()
	r.known = r.hooks // the same map from now on: it has what this follow learns
	if last.revision > r.accepted {
		keys = append(keys, last.Keys...)
	}
	r.mu.Unlock()
	for _, key := range keys {
		if held, marker := f.held[key]; !held {
			r.loseRecord(key, marker)
		}
	}
	f.held = nil
}
