package registry

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/wire"
)

// lostKey is the key of the [loss] that is not accepted yet.
const lostKey = "lost"

// loss records that a durable hook is gone from the bucket although nobody unregistered it, or that
// the bucket is older than what a replica has read. Other guards may be gone too, so no replica
// serves until an operator accepts the loss.
type loss struct {
	Hook string    `json:"hook,omitempty"` // empty if anything may be lost
	Why  string    `json:"why,omitempty"`  // empty if the loss is accepted
	By   string    `json:"by,omitempty"`   // who accepted it, if the connection proves an identity
	Time time.Time `json:"time"`

	after uint64 // revision of lostKey that this replica had read when it noticed; 0 for none
}

func (l *loss) err() error {
	what := l.Why
	if l.Hook != "" {
		what = fmt.Sprintf("hook %q %s", l.Hook, l.Why)
	}
	return wire.Errorf(wire.Unavailable, "registrations are lost: %s. Restore the bucket of registrations from a backup, "+
		"or make sure that every guard is registered again and then run `hookctl registry accept`", what)
}

// Ready reports why the registry can't serve, or nil.
func (r *Registry) Ready() error {
	if err := r.settings.Err(); err != nil {
		return err
	}
	_, err := r.Table()
	return err
}

// lose notes that a hook is lost, unless another one already is. The other replicas learn of it
// through the bucket.
func (r *Registry) lose(id, why string) {
	l := &loss{Hook: id, Why: why, Time: time.Now().UTC(), after: r.lostAt.Load()}
	if r.lost.CompareAndSwap(nil, l) {
		r.unreported.Store(l)
		r.options.Log.Error("registrations are lost; not serving until an operator accepts it", "hook", id, "reason", why, "accept_with", "hookctl registry accept")
	}
}

// reportLost records and stores a loss that this replica noticed. If another replica wrote
// meanwhile, its record counts: it reported the same loss, or an operator accepted it.
func (r *Registry) reportLost(ctx context.Context) error {
	return every(ctx, r.options.Lease/6, func() {
		l := r.unreported.Load()
		if l == nil {
			return
		}
		body, _ := json.Marshal(l) // strings and a time only
		ctx, cancel := context.WithTimeout(ctx, writeTimeout)
		defer cancel()
		err := r.options.Record(ctx, Change{Action: "lost", Hook: l.Hook, Reason: l.Why})
		if err == nil {
			_, err = r.bucket.Update(ctx, lostKey, body, l.after)
		}
		if err != nil && !errors.Is(err, natsx.ErrRevision) {
			r.options.Log.Warn("the other routers do not know of the lost registrations yet; trying again", "error", err)
			return
		}
		r.unreported.CompareAndSwap(l, nil)
	})
}

// noHook is the id of the tombstone for a loss that names no hook. No hook can have it.
const noHook = "_"

// errAccepted makes a replica read the bucket again and forget the lost registrations.
var errAccepted = errors.New("an operator accepted that registrations are lost")

// Accept lets the replicas serve with the registrations that the bucket holds, and reports
// whether there was a loss to accept. It returns when every replica knows.
func (r *Registry) Accept(ctx context.Context, by string) (accepted bool, err error) {
	l := r.lost.Load()
	switch {
	case !r.Current():
		return false, ErrStale
	case l == nil:
		return false, r.seenByAll(ctx, r.lostAt.Load()) // somebody may just have accepted it
	case r.unreported.Load() != nil:
		return false, wire.Errorf(wire.Unavailable, "the loss is not recorded yet: try again")
	}
	if err := r.options.Record(ctx, Change{Action: "accepted", Hook: l.Hook, By: by, Reason: l.Why}); err != nil {
		return false, err
	}
	// A tombstone keeps the registry from being empty at the next start, unless it is lost again. A
	// hook that is registered again needs none.
	if _, err := r.bucket.Update(ctx, hookKey+cmp.Or(l.Hook, noHook), tombstone(), 0); err != nil && !errors.Is(err, natsx.ErrRevision) {
		return false, storeError("the acceptance", err)
	}
	body, err := json.Marshal(loss{By: by, Time: time.Now().UTC()})
	if err != nil {
		return false, fmt.Errorf("accept: %w", err)
	}
	revision, err := r.bucket.Put(ctx, lostKey, body)
	if err != nil {
		return false, storeError("the acceptance", err)
	}
	return true, r.seenByAll(ctx, revision)
}

// CheckEmpty checks an empty bucket against the audit log: known returns a durable hook and a
// pinned guard that the log knows; empty means none. Call it at the start, when the registry is
// current.
func (r *Registry) CheckEmpty(ctx context.Context, known func(context.Context) (hook, guard string, err error)) error {
	r.mu.Lock()
	empty := len(r.hooks) == 0 && len(r.gone) == 0
	r.mu.Unlock()
	if !empty {
		return nil
	}
	hook, guard, err := known(ctx)
	switch {
	case err != nil:
		return fmt.Errorf("compare the registrations with the audit log: %w", err)
	case hook != "":
		r.lose(hook, "is in the audit log, but the bucket of registrations is empty")
	case guard != "" && len(r.pins.known()) == 0:
		r.lose(guard, "was pinned according to the audit log, but the bucket of registrations is empty")
	}
	return nil
}

// wasDeleted is why a hook is lost if the bucket has only the marker of a deletion for it.
const wasDeleted = "was deleted from the bucket of registrations"

// deleted reports whether a durable hook was deleted from the bucket. Routers write tombstones
// instead, so such a hook is lost, and stays in the table.
func (f *follower) deleted(id string, batch map[string]*hook) bool {
	h := f.latest(id, batch)
	if h == nil || !h.Registration.StaysRegistered() {
		return false
	}
	f.registry.lose(id, wasDeleted)
	return true
}

// older looks for a bucket that is older than what this replica has read: labels and orders may be
// gone. applied includes a record that this replica wrote after it began to follow, so the store
// has no newer records that it has merely not delivered yet.
func (f *follower) older(applied uint64) {
	r := f.registry
	r.mu.Lock()
	known := r.knownAt
	r.knownAt = applied
	r.mu.Unlock()
	if applied < known {
		r.lose("", fmt.Sprintf("the bucket of registrations is at revision %d, but this router has read revision %d", applied, known))
	}
}

// loss applies the record of lost registrations, and reports whether a loss was accepted: one that
// this replica knew, or one that it missed while it was away.
func (f *follower) loss(e natsx.Entry) (accepted bool) {
	l := new(loss)
	if err := json.Unmarshal(e.Value, l); err != nil {
		l = &loss{Hook: "unknown", Why: "may be gone: the record of the loss can't be read"}
	} else if l.Why == "" {
		l = nil
	}
	r := f.registry
	r.lostAt.Store(e.Revision)
	r.unreported.Store(nil) // another replica stored it first
	was := r.lost.Swap(l)
	if l != nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	missed := e.Revision > r.accepted && r.known != nil
	r.accepted = max(r.accepted, e.Revision)
	return was != nil || missed
}
