package registry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// Limits of the registry.
const (
	maxHooks     = 50_000 // on one bus
	maxInstances = 1_000  // behind one hook

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
	var recorded Change
	var done func() // nil without the turn to write
	defer func() {
		if done != nil {
			done()
		}
	}()
	for {
		old, changed, err := r.lookup(reg.ID)
		if err != nil {
			return 0, err
		}
		next, what := register(old, reg)
		if err := r.acceptable(reg, old, next, what); err != nil {
			return 0, err
		}
		switch {
		case what == renewed && !r.mustWrite(reg.ID, reg.Instance):
			r.heartbeat(reg.ID, reg.Instance)
			return old.revision, nil
		case done == nil:
			if done, err = r.turns.take(ctx, reg.ID); err != nil {
				return 0, err
			}
			continue // the writer before may have written
		}
		if what == written {
			change := registering(by, old, next, reg.Instance)
			if !change.same(recorded) { // a try after a lost race is recorded already
				if err := r.options.Record(ctx, change); err != nil {
					return 0, err
				}
				recorded = change
			}
		}
		rev, err := r.write(ctx, next, old)
		if errors.Is(err, natsx.ErrRevision) {
			if err := wait(ctx, changed); err != nil {
				return 0, err
			}
			continue
		}
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			continue
		}
		if err != nil {
			return 0, wire.Errorf(wire.Unavailable, "the registration could not be stored: %v", err)
		}
		if what == written {
			r.options.Changed(recorded.Action, reg.ID)
		}
		r.heartbeat(reg.ID, reg.Instance)
		_, _ = r.waitNewer(ctx, reg.ID, rev-1) // the next writer goes on after this; Register returns the error
		return rev, nil
	}
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
func (r *Registry) unregister(ctx context.Context, by, id, inst string) (revision uint64, err error) {
	done, err := r.turns.take(ctx, id)
	if err != nil {
		return 0, err
	}
	defer done()
	var recorded Change
	for {
		old, changed, err := r.lookup(id)
		if err != nil || old == nil {
			return r.removed(id), err
		}
		if _, known := old.Instances[inst]; inst != "" && !known {
			return old.revision, nil
		}
		if change := removing(by, old, inst); !change.same(recorded) {
			if err := r.options.Record(ctx, change); err != nil {
				return 0, err
			}
			recorded = change
		}
		err = r.drop(ctx, old, inst)
		if errors.Is(err, natsx.ErrRevision) {
			if err := wait(ctx, changed); err != nil {
				return 0, err
			}
			continue
		}
		if err != nil {
			return 0, wire.Errorf(wire.Unavailable, "the removal could not be stored: %v", err)
		}
		r.options.Changed(recorded.Action, id)
		return r.waitNewer(ctx, id, old.revision)
	}
}

// drop writes a hook without an instance, once.
func (r *Registry) drop(ctx context.Context, old *hook, inst string) error {
	id := old.Registration.ID
	next := record{Registration: old.Registration, Order: old.entry.Order, Instances: maps.Clone(old.Instances)}
	delete(next.Instances, inst)
	if inst == "" || len(next.Instances) == 0 && !old.Registration.StaysRegistered() {
		return r.writeTombstone(ctx, id, old.revision)
	}
	_, err := r.write(ctx, next, old)
	return err
}

// writeTombstone writes the tombstone of a hook, and drops the oldest if there are many: a
// single one tells a registry that its users emptied from a lost one.
func (r *Registry) writeTombstone(ctx context.Context, id string, at uint64) error {
	if _, err := r.bucket.Update(ctx, hookKey+id, tombstone(), at); err != nil {
		return err
	}
	oldest, revision := r.oldestTombstone()
	if oldest != "" {
		_ = r.bucket.Remove(ctx, hookKey+oldest, revision) // another replica may have removed it
	}
	return nil
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
	r.mu.Lock()
	at := r.gone[next.Registration.ID] // 0 without a tombstone
	r.mu.Unlock()
	if old != nil {
		at = old.revision
	}
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	return r.bucket.Update(ctx, hookKey+next.Registration.ID, body, at)
}

// lookup returns a hook as this replica knows it, nil for none, and a channel that closes at the
// next change.
func (r *Registry) lookup(id string) (*hook, <-chan struct{}, error) {
	if !r.Current() {
		return nil, nil, ErrStale
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.hooks[id], r.changed, nil
}

// removed is the revision that removed a hook; 0 for none.
func (r *Registry) removed(id string) uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.gone[id]
}

// full reports whether no more hooks may be registered.
func (r *Registry) full() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.hooks) >= maxHooks
}

// waitNewer waits until this replica has seen a hook change or disappear, and returns a revision
// that includes that.
func (r *Registry) waitNewer(ctx context.Context, id string, old uint64) (uint64, error) {
	for {
		r.mu.Lock()
		changed, h, read := r.changed, r.hooks[id], r.read
		r.mu.Unlock()
		if h == nil || h.revision > old {
			return read, nil
		}
		if err := wait(ctx, changed); err != nil {
			return 0, err
		}
	}
}

// seenByAll is waitApplied with an error for clients: the change is stored, and sending it again
// completes it.
func (r *Registry) seenByAll(ctx context.Context, revision uint64) error {
	if err := r.waitApplied(ctx, revision); err != nil {
		return wire.Errorf(wire.Unavailable, "it is stored, but %v: send it again", err)
	}
	return nil
}

func wait(ctx context.Context, changed <-chan struct{}) error {
	select {
	case <-changed:
		return nil
	case <-ctx.Done():
		return wire.Errorf(wire.Unavailable, "others keep writing, or the log of registrations stands still: try again")
	}
}
