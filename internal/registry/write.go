package registry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// Limits of the registry.
const (
	maxHooks     = 50_000 // on one bus
	maxInstances = 1_000  // of one hook

	maxTombstones = 1_000 // of hooks that were removed
)

// writeTimeout bounds one write. If its reply is lost, as when the store's leader changes, the
// revision tells the retry what happened.
const writeTimeout = 2 * time.Second

// Register adds an instance of a hook, renews it or changes the hook, and returns the revision.
// by is the proven sender. After it returns without an error, every replica uses the
// registration for the events that it accepts.
func (r *Registry) Register(ctx context.Context, by string, reg chain.Registration) (uint64, error) {
	revision, err := r.register(ctx, by, reg)
	if err != nil {
		return 0, err
	}
	return revision, r.seenByAll(ctx, revision)
}

// register is Register without waiting for other replicas.
func (r *Registry) register(ctx context.Context, by string, reg chain.Registration) (uint64, error) {
	var done func() // nil without the turn to write
	defer func() {
		if done != nil {
			done()
		}
	}()
	record := r.recorder(ctx)
	return r.retry(ctx, func() (uint64, error) {
		old, _ := r.lookup(reg.ID)
		next, what := recordAfter(old, reg)
		if err := r.acceptable(reg, old, next, what); err != nil {
			return 0, err
		}
		if what == renewed && !r.mustWrite(reg.ID, reg.Instance) {
			r.heartbeat(reg.ID, reg.Instance)
			return old.revision, nil
		}
		if done == nil {
			var err error
			if done, err = r.turns.take(ctx, reg.ID); err != nil {
				return 0, err
			}
			return 0, errRetry // the previous writer may have written
		}
		change := registering(by, old, next, reg.Instance)
		if what == written {
			if err := record(change); err != nil {
				return 0, err
			}
		}
		revision, err := r.write(ctx, next, old)
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			return 0, errRetry
		}
		if err != nil {
			return 0, storeError("the registration", err)
		}
		if what == written {
			r.options.Changed(change.Action, reg.ID)
		}
		r.heartbeat(reg.ID, reg.Instance)
		r.waitRead(ctx, reg.ID, revision)
		return revision, nil
	})
}

// acceptable says why a registration must not become the next state of its hook.
func (r *Registry) acceptable(reg chain.Registration, old *hook, next record, what change) error {
	switch {
	case old == nil && r.full():
		return wire.Errorf(wire.Overloaded, "%d hooks are registered, which is the limit", maxHooks)
	case what == outdated:
		return wire.Errorf(wire.Conflict, "hook %q is registered in version %q: version %q is older and can't replace it",
			reg.ID, old.Registration.Version, reg.Version)
	case len(next.Instances) > maxInstances:
		return wire.Errorf(wire.Overloaded, "hook %q has %d instances, which is the limit", reg.ID, maxInstances)
	}
	return nil
}

// Unregister removes one instance of a hook; instance "" removes the hook. The last instance
// takes the hook with it, unless the hook is durable. After it returns without an error, no
// replica uses what it removed.
func (r *Registry) Unregister(ctx context.Context, by, id, inst string) error {
	revision, err := r.unregister(ctx, by, id, inst)
	if err != nil {
		return err
	}
	return r.seenByAll(ctx, revision)
}

// unregister is Unregister without waiting for other replicas. If there is nothing to remove, the
// revision is that of the removal before; 0 for none.
func (r *Registry) unregister(ctx context.Context, by, id, inst string) (uint64, error) {
	done, err := r.turns.take(ctx, id)
	if err != nil {
		return 0, err
	}
	defer done()
	record := r.recorder(ctx)
	return r.retry(ctx, func() (uint64, error) {
		old, removed := r.lookup(id)
		if old == nil {
			return removed, nil
		}
		if _, known := old.Instances[inst]; inst != "" && !known {
			return old.revision, nil
		}
		change := removing(by, old, inst)
		if err := record(change); err != nil {
			return 0, err
		}
		revision, err := r.drop(ctx, old, inst)
		if err != nil {
			return 0, storeError("the removal", err)
		}
		r.options.Changed(change.Action, id)
		r.waitRead(ctx, id, revision)
		return revision, nil
	})
}

// drop writes a hook without an instance, once, and returns the revision.
func (r *Registry) drop(ctx context.Context, old *hook, inst string) (uint64, error) {
	next := record{Registration: old.Registration, Order: old.entry.Order, Instances: maps.Clone(old.Instances)}
	delete(next.Instances, inst)
	if inst == "" || len(next.Instances) == 0 && !old.Registration.StaysRegistered() {
		return r.writeTombstone(ctx, old.Registration.ID, old.revision)
	}
	return r.write(ctx, next, old)
}

// writeTombstone writes the tombstone of a hook, and drops the oldest if there are many: a single
// one distinguishes an emptied registry from a lost one.
func (r *Registry) writeTombstone(ctx context.Context, id string, at uint64) (uint64, error) {
	written, err := r.bucket.Update(ctx, hookKey+id, tombstone(), at)
	if err != nil {
		return 0, err
	}
	if oldest, revision := r.oldestTombstone(); oldest != "" {
		_ = r.bucket.Remove(ctx, hookKey+oldest, revision) // another replica may have removed it
	}
	return written, nil
}

// oldestTombstone returns the tombstone to drop; empty if there are few.
func (r *Registry) oldestTombstone() (id string, revision uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.gone) <= maxTombstones {
		return "", 0
	}
	for one, at := range r.gone {
		if revision == 0 || at < revision {
			id, revision = one, at
		}
	}
	return id, revision
}

func (r *Registry) write(ctx context.Context, next record, old *hook) (uint64, error) {
	body, err := json.Marshal(next)
	if err != nil {
		return 0, fmt.Errorf("write registration: %w", err)
	}
	_, at := r.lookup(next.Registration.ID)
	if old != nil {
		at = old.revision
	}
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	return r.bucket.Update(ctx, hookKey+next.Registration.ID, body, at)
}

// lookup returns a hook as this replica knows it; nil for none, and then the revision that removed
// it; 0 for none.
func (r *Registry) lookup(id string) (h *hook, removed uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.hooks[id], r.gone[id]
}

// full reports whether no more hooks may be registered.
func (r *Registry) full() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.hooks) >= maxHooks
}

// waitRead waits until this replica has read a write of a hook, so that the next writer starts from
// it.
func (r *Registry) waitRead(ctx context.Context, id string, revision uint64) {
	for {
		r.mu.Lock()
		changed, h := r.changed, r.hooks[id]
		r.mu.Unlock()
		if h == nil || h.revision >= revision || wait(ctx, changed) != nil {
			return
		}
	}
}
