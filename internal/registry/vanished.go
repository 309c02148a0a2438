package registry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"github.com/hookrouter/hookrouter/internal/natsx"
)

// watchKeys looks for records that vanished from the bucket. A purge or a damaged file leaves no
// marker that a follower would receive, so this replica would continue as before, and the next one
// that starts would miss guards and orders. Freeze orders are written again. A hook or a pin counts
// as lost once two checks in a row miss it: the first may have asked a new leader of the bucket.
func (r *Registry) watchKeys(ctx context.Context) error {
	var before string
	return every(ctx, 2*r.options.Lease, func() {
		if !r.Current() {
			before = ""
			return
		}
		ctx, cancel := context.WithTimeout(ctx, writeTimeout)
		defer cancel()
		keys, last := r.durable() // before the bucket is read, so that it must contain all of them
		freezes := r.frozen.known()
		now, err := r.vanished(ctx, keys, before)
		if err == nil && now == "" {
			err = r.takeInventory(ctx, keys, freezes, last)
		}
		if err = errors.Join(err, r.freezeAgain(ctx, freezes)); err != nil && ctx.Err() == nil {
			r.options.Log.Warn("registrations not compared with the bucket", "error", err)
		}
		if now != "" && now == before {
			r.loseRecord(now, false)
		}
		before = now
	})
}

// vanished finds a key that the bucket has no record of, preferably the given one; empty for none.
func (r *Registry) vanished(ctx context.Context, keys []string, preferred string) (found string, err error) {
	held := map[string]bool{}
	for _, prefix := range []string{hookKey, pinKey} {
		list, err := r.bucket.Holds(ctx, prefix+">")
		if err != nil {
			return "", err
		}
		maps.Copy(held, list)
	}
	for _, key := range keys {
		if !held[key] && (found == "" || key == preferred) {
			found = key
		}
	}
	return found, nil
}

// freezeAgain writes the freeze orders that the bucket has no record of. A thaw writes a record
// too, which this does not replace.
func (r *Registry) freezeAgain(ctx context.Context, known map[string]frozen) error {
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
		r.options.Log.Warn("freeze order vanished from the bucket of registrations; writing it again", "scope", order.Key())
		if _, err := r.bucket.Update(ctx, freezeKey+key, body, 0); err != nil && !errors.Is(err, natsx.ErrRevision) {
			return err
		}
	}
	return nil
}
