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

// inventory lists the keys of the durable hooks, pins and freeze orders in the bucket. A record
// that is purged or damaged while no router runs leaves no other trace.
type inventory struct {
	Keys []string `json:"keys"` // sorted

	revision uint64
}

// durable returns the keys of the hooks and pins that the bucket must contain, and an inventory
// that is not newer. These records are never removed: unregister, unpin and thaw replace them.
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

// loseRecord notes that the bucket no longer contains a durable record. marker reports whether it
// contains the marker of a deletion instead.
func (r *Registry) loseRecord(key string, marker bool) {
	if id, ok := strings.CutPrefix(key, hookKey); ok && marker {
		r.lose(id, wasDeleted)
	} else if ok {
		r.lose(id, "is no longer in the bucket of registrations")
	} else if id, ok := strings.CutPrefix(key, pinKey); ok {
		r.lose(id, "was pinned, but its order is no longer in the bucket of registrations")
	} else {
		r.lose("", key+" is no longer in the bucket of registrations")
	}
}

// takeInventory stores the list of keys that the bucket must contain: keys, and those of the freeze
// orders. It does nothing if the last inventory lists the same keys, or if another replica stores
// one first.
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
		return fmt.Errorf("store the inventory of the bucket: %w", err)
	}
	if _, err := r.bucket.Update(ctx, inventoryKey, body, last.revision); err != nil && !errors.Is(err, natsx.ErrRevision) {
		return err
	}
	return nil
}

// notePresent notes that the log contains a key, and keeps the inventory. The caller holds the
// registry's mu.
func (f *follower) notePresent(e natsx.Entry) {
	switch {
	case e.Key == inventoryKey && e.Value != nil:
		last := inventory{revision: e.Revision}
		if err := json.Unmarshal(e.Value, &last); err != nil {
			last.Keys = []string{inventoryKey} // anything may be missing
		}
		f.registry.inventory = last
	case f.present != nil && !strings.HasPrefix(e.Key, labelKey):
		f.present[e.Key] = e.Value != nil
	}
}

// compare looks for records that are missing from the bucket, which was just read as a whole: those
// of the hooks and pins that this replica knew before it began to follow, and those of the
// inventory. An inventory from before an accepted loss does not count.
func (f *follower) compare() {
	r := f.registry
	keys, last := r.durable()
	r.mu.Lock()
	r.known = r.hooks // shared from now on, so that known follows the changes of hooks
	if last.revision > r.accepted {
		keys = append(keys, last.Keys...)
	}
	r.mu.Unlock()
	for _, key := range keys {
		if there, marker := f.present[key]; !there {
			r.loseRecord(key, marker)
		}
	}
	f.present = nil
}
