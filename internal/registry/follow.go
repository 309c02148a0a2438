package registry

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/pinned"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// follower applies the bucket's log, batch by batch, in order. Only the goroutine of
// [natsx.Bucket.Follow] uses it.
type follower struct {
	registry *Registry
	lease    *lease
	next     *chain.Table // as of the log so far

	loaded  bool // everything that the bucket contained at the start was received
	whole   bool // and nothing that was replaced meanwhile is missing
	changed bool // hooks, orders or labels changed since the last report
	gaps    gaps

	// present are the keys of the bucket except those of labels; false for the marker of a deletion.
	// It is nil once the whole bucket was received.
	present map[string]bool
}

// apply applies one batch. Until the whole bucket was received, the served table stays as it
// was.
//
// The bucket keeps one record per key, and does not deliver older ones. So while more records are
// pending after a batch, an earlier record may be missing from it. Therefore a revision counts as
// applied, and a lease as held, only after a batch that ends with the last record of the log and
// leaves no gap.
func (f *follower) apply(ctx context.Context, batch []natsx.Entry, loaded bool) error {
	r := f.registry
	hooks, gone, err := f.read(batch)
	if err != nil {
		return err
	}
	r.read.Store(f.gaps.last)
	changes := f.callable(hooks, r.disabled.apply(batch))
	if len(changes) > 0 {
		f.next = f.next.Apply(changes...)
	}
	ordered := len(r.frozen.apply(batch)) + len(r.pins.apply(batch))
	if loaded {
		f.publish() // before r.applied advances
	}
	labeled := f.labeled(batch)
	f.changed = f.changed || len(changes)+ordered > 0 || labeled
	complete := loaded && len(batch) > 0 && batch[len(batch)-1].Last && f.gaps.closed(ctx)
	applied := f.update(batch, hooks, gone, complete)
	if loaded && !f.loaded {
		close(f.lease.loaded)
	}
	f.loaded = loaded
	if !complete {
		return nil
	}
	if !f.whole {
		f.whole = true
		f.compare()
	}
	if f.lease.began() {
		f.older(applied)
	}
	f.lease.confirm()
	if f.changed {
		f.changed = false
		return r.report(applied)
	}
	return nil
}

// read returns the hooks of a batch by id, nil for a removed one, and the revisions of tombstones.
// The error is [errAccepted] if an operator accepted a loss.
func (f *follower) read(batch []natsx.Entry) (hooks map[string]*hook, gone map[string]uint64, err error) {
	hooks, gone = make(map[string]*hook, len(batch)), map[string]uint64{}
	for _, e := range batch {
		f.gaps.received(e.Revision)
		if e.Key == lostKey && e.Value != nil && f.loss(e) {
			return nil, nil, errAccepted
		}
		id, ok := strings.CutPrefix(e.Key, hookKey)
		if !ok || e.Value == nil && f.deleted(id, hooks) {
			continue
		}
		h, removed := f.decode(id, e)
		hooks[id] = h
		delete(gone, id)
		if removed {
			gone[id] = e.Revision
		}
	}
	return hooks, gone, nil
}

// publish lets the replica serve with the hooks and orders as of the log so far.
func (f *follower) publish() {
	r := f.registry
	r.table.Store(f.next)
	r.disabled.publish()
	r.frozen.publish()
	if r.pins.publish() {
		r.guards.Store(pinned.Ordered(r.pinOrders()))
	}
}

// callable returns the table changes that follow from a batch of hooks and of orders to disable
// hooks. Disabled hooks are not in the table.
func (f *follower) callable(hooks map[string]*hook, ordered []string) (changes []chain.Change) {
	for _, id := range slices.AppendSeq(ordered, maps.Keys(hooks)) {
		change := chain.Change{ID: id}
		if h := f.latest(id, hooks); h != nil && !(*f.registry.disabled.next)[id].inForce() {
			change.Entry = h.entry
		}
		changes = append(changes, change)
	}
	return changes
}

// latest returns a hook as of a batch.
func (f *follower) latest(id string, batch map[string]*hook) *hook {
	if h, now := batch[id]; now {
		return h
	}
	h, _ := f.registry.lookup(id)
	return h
}

// decode reads the record of a hook; nil if it was removed, with or without a tombstone.
func (f *follower) decode(id string, e natsx.Entry) (h *hook, tombstone bool) {
	if e.Value == nil {
		f.registry.options.Log.Debug("hook removed", "hook", id, "revision", e.Revision)
		return nil, false
	}
	h, err := decodeHook(e, f.registry.options.Compile)
	if err != nil {
		f.registry.options.Log.Error("registration unreadable; denying all events", "hook", id, "error", err)
		return unreadable(id, e.Revision, err), false
	}
	if h.Removed != nil {
		f.registry.options.Log.Debug("hook removed", "hook", id, "revision", e.Revision)
		return nil, true
	}
	f.registry.options.Log.Debug("hook registered", "hook", id, "revision", e.Revision, "instances", len(h.Instances))
	return h, false
}

// update applies a batch to the registry and returns the applied revision.
func (f *follower) update(batch []natsx.Entry, hooks map[string]*hook, gone map[string]uint64, complete bool) uint64 {
	r := f.registry
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	for _, e := range batch {
		if id, ok := strings.CutPrefix(e.Key, replicaKey); ok {
			f.replica(id, e, now)
		}
		f.notePresent(e)
	}
	if complete {
		r.applied = f.gaps.last
	}
	for id, h := range hooks {
		delete(r.gone, id)
		if h == nil {
			delete(r.hooks, id)
			continue
		}
		old := r.hooks[id]
		r.hooks[id] = h
		for inst, is := range h.Instances {
			key := instanceKey{id, inst}
			if r.seen[key].IsZero() || old == nil || old.entry.Order != h.entry.Order || old.Instances[inst] != is {
				r.seen[key] = now
			}
		}
	}
	maps.Copy(r.gone, gone)
	r.broadcast()
	return r.applied
}
