package registry

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// WaitCurrent waits until this replica holds a lease.
func (r *Registry) WaitCurrent(ctx context.Context) error {
	for {
		r.mu.Lock()
		changed := r.changed
		r.mu.Unlock()
		if r.Current() {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("wait for the hook table: %w", ctx.Err())
		}
	}
}

// Run follows the log, renews the lease and expires instances until ctx ends, then gives up the
// lease. It starts over whenever it loses the log or the lease.
func (r *Registry) Run(ctx context.Context) error {
	stop, err := r.listen()
	if err != nil {
		return err
	}
	defer stop()
	defer r.conn.OnReconnect(r.extendAll)()
	for {
		err := r.hold(ctx)
		r.left.Store(ctx.Err() != nil && r.Current())
		r.leaseUntil.Store(-1)
		if ctx.Err() != nil {
			r.leave()
			return nil
		}
		if errors.Is(err, errAccepted) {
			r.mu.Lock()
			r.hooks, r.known, r.knownAt = nil, nil, 0
			r.mu.Unlock()
			r.labels.Clear()
			r.pins.begin(map[string]pin{})
			r.pins.publish()
		}
		r.options.Log.Warn("hook table stale; refusing events", "error", err)
		select {
		case <-time.After(50*time.Millisecond + rand.N(200*time.Millisecond)): //nolint:gosec // jitter, no secret
		case <-ctx.Done():
		}
	}
}

// hold joins, follows and renews until one of these fails.
func (r *Registry) hold(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r.mu.Lock()
	r.lostAt.Store(0)
	r.hooks, r.gone, r.replicas, r.seen = map[string]*hook{}, map[string]uint64{}, map[string]*peer{}, map[instanceKey]time.Time{}
	r.applied, r.inventory = 0, inventory{}
	r.mu.Unlock()

	r.frozen.begin(r.frozen.known())
	r.pins.begin(r.pins.known())
	r.disabled.begin(map[string]Disabled{})
	lease := &lease{registry: r, loaded: make(chan struct{}), sent: map[uint64]time.Time{}}
	var wg sync.WaitGroup
	for _, part := range []func(context.Context) error{lease.renew, r.expire, r.forget, r.broadcastHeartbeats, r.watchListeners, r.watchKeys, r.reportLost} {
		wg.Go(func() {
			if err := part(ctx); err != nil {
				cancel(err)
			}
		})
	}
	wg.Go(func() { r.settings.Watch(ctx) })
	f := &follower{
		registry: r, lease: lease, next: &chain.Table{},
		present: map[string]bool{},
		gaps:    gaps{bucket: r.bucket, timeout: r.options.Lease / 3, log: r.options.Log},
	}
	err := r.bucket.Follow(ctx, func(batch []natsx.Entry, loaded bool) error { return f.apply(ctx, batch, loaded) })
	cancel(err)
	wg.Wait()
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		return cause
	}
	return err
}

// broadcast wakes everyone waiting for a change. The caller holds mu.
func (r *Registry) broadcast() {
	close(r.changed)
	r.changed = make(chan struct{})
}
