package registry

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// How often the bucket's settings are checked, while they are right and while they are wrong.
const (
	driftInterval = time.Minute
	driftRetry    = 5 * time.Second
)

// CheckSettings compares the bucket's settings with the required ones. With other settings the
// bucket may lose registrations, and this replica is not ready. Run repeats the check.
func (r *Registry) CheckSettings(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, driftRetry)
	defer cancel()
	name := r.conn.Bucket()
	state, err := r.conn.InspectBucket(ctx, Bucket(name, 0))
	if err != nil {
		return err
	}
	before := r.drift.Load()
	if len(state.Drift) == 0 {
		if before != nil {
			r.drift.Store(nil)
			r.options.Log.Info("settings of the registry are right again", "bucket", name)
		}
		return nil
	}
	found := strings.Join(state.Drift, ", ")
	reason := fmt.Sprintf("the bucket %s may lose registrations: %s. Run `hookctl audit bootstrap --prefix %s`", name, found, r.conn.Prefix())
	r.drift.Store(&reason)
	if before == nil || *before != reason {
		r.options.Log.Error("settings of the registry are wrong; not serving until they are restored",
			"bucket", name, "drift", found, "restore_with", "hookctl audit bootstrap --prefix "+r.conn.Prefix())
	}
	return nil
}

// watchSettings checks the settings until ctx ends.
func (r *Registry) watchSettings(ctx context.Context) error {
	for {
		pause := driftInterval
		if r.drift.Load() != nil {
			pause = driftRetry
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil
		}
		if err := r.CheckSettings(ctx); err != nil && ctx.Err() == nil {
			r.options.Log.Warn("settings of the registry not checked", "error", err)
		}
	}
}
