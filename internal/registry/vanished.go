package registry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hookrouter/hookrouter/internal/natsx"
)

// vanished is the key of a record that this replica knows and the bucket does not hold, the id of
// its hook and the reason to state.
type vanished struct{ key, hook, why string }

// watchKeys looks for records that vanished from the bucket. A purge and a damaged file leave no
// marker that a follower would receive, so this replica would go on as before, and the next one that
// starts would miss guards and orders. Orders to freeze are written again. A hook or a pin counts as
// lost once two checks in a row miss it: the first may have met a new leader of the bucket.
func (r *Registry) watchKeys(ctx context.Context) error {
	var before vanished
	return every(ctx, 2*r.options.Lease, func() {
		if !r.Current() {
			before = vanished{}
			return
		}
		ctx, cancel := context.WithTimeout(ctx, writeTimeout)
		defer cancel()
		now, err := r.vanished(ctx, before.key)
		if err = errors.Join(err, r.freezeAgain(ctx)); err != nil && ctx.Err() == nil {
			r.options.Log.Warn("registrations not compared with the bucket", "error", err)
		}
		if now.key != "" && now.key == before.key {
			r.lose(now.hook, now.why)
		}
		before = now
	})
}

// vanished finds a durable hook or a pin without a record in the bucket, preferably the given one.
// Nobody removes such a record: to unregister and to unpin is to write another.
func (r *Registry) vanished(ctx context.Context, preferred string) (found vanished, err error) {
	known := r.knownRecords() // before the bucket is read: it has had all of them
	for prefix, list := range known {
		held, err := r.bucket.Holds(ctx, prefix+">")
		if err != nil {
			return vanished{}, err
		}
		for _, one := range list {
			if !held[one.key] && (found.key == "" || one.key == preferred) {
				found = one
			}
		}
	}
	return found, nil
}

// freezeAgain writes the orders to freeze that the bucket has no record of. To thaw is to write
// another record, which then stays.
func (r *Registry) freezeAgain(ctx context.Context) error {
	known := r.frozen.Load().byKey // before the bucket is read
	if len(known) == 0 {
		return nil
	}
	held, err := r.bucket.Holds(ctx, freezeKey+">")
	if err != nil {
		return err
	}
	for key, order := range known {
		if held[freezeKey+key] {
			continue
		}
		body, err := json.Marshal(order.Order)
		if err != nil {
			return fmt.Errorf("freeze again: %w", err)
		}
		r.options.Log.Warn("an order to freeze vanished from the bucket of registrations; writing it again", "scope", order.Key())
		if _, err := r.bucket.Update(ctx, freezeKey+key, body, 0); err != nil && !errors.Is(err, natsx.ErrRevision) {
			return err
		}
	}
	return nil
}

// knownRecords returns what the bucket must hold, by prefix of the keys.
func (r *Registry) knownRecords() map[string][]vanished {
	known := map[string][]vanished{}
	r.mu.Lock()
	for id, h := range r.hooks {
		if h.Registration.StaysRegistered() {
			known[hookKey] = append(known[hookKey], vanished{hookKey + id, id, "is not in the bucket of registrations any more"})
		}
	}
	r.mu.Unlock()
	for id, one := range r.pins.Load().byID {
		if one.inForce() {
			known[pinKey] = append(known[pinKey], vanished{pinKey + id, id, "was pinned, and the order is not in the bucket of registrations any more"})
		}
	}
	return known
}
