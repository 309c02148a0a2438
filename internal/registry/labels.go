package registry

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/labels"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/wire"
)

// labelKey prefixes the keys of session records; see [labels.Key].
const labelKey = "label."

// Limits of session records.
const (
	maxLabeled      = 200_000 // sessions
	maxOfOneSender  = 20_000  // sessions
	maxOfOneSession = 64      // labels
)

// Labels returns the labels of a session, which [labels.Name] names: its own, its tree's and its
// sender's. The error is [ErrStale] if this replica holds no lease and so may miss some.
func (r *Registry) Labels(name string) ([]string, error) {
	if !r.Current() {
		return nil, ErrStale
	}
	return r.labels.Of(name, time.Now()), nil // read after the lease: newer ones are right too
}

// Session returns the stored record of a session, which may be empty, as far as this replica
// knows.
func (r *Registry) Session(name string) labels.Record {
	record, _ := r.labels.Get(name)
	return record
}

// Senders returns the senders whose session with an id has labels or a lineage, as far as this
// replica knows; an unproven sender is empty.
func (r *Registry) Senders(id string) []string { return r.labels.Senders(id) }

// AddLabels adds labels, each with the hook that set it, and returns all labels of the session,
// including those that others added before. After it returns without an error, every replica
// knows them or has no lease.
func (r *Registry) AddLabels(ctx context.Context, name string, by map[string]string) ([]string, error) {
	added := slices.Sorted(maps.Keys(by))
	err := r.updateSession(ctx, name, func(old labels.Record, now time.Time) (labels.Record, bool, error) {
		missing := r.labels.Missing(name, added, now)
		if len(missing) == 0 {
			return old, false, nil
		}
		next, at := old, r.labels.After(name, missing, now)
		for _, label := range missing {
			next = next.With(by[label], at, label)
		}
		if len(next.Labels) > maxOfOneSession {
			return old, false, wire.Errorf(wire.Overloaded, "the session has %d labels, which is the limit: end it", maxOfOneSession)
		}
		return next, true, nil
	})
	if err != nil {
		return nil, err
	}
	return r.Labels(name)
}

// Claim stores a session's claimed parent and root; each may be empty. A claim that every replica
// already knows costs a map lookup. After it returns without an error, every replica knows the
// claim or has no lease.
func (r *Registry) Claim(ctx context.Context, name, parent, root string) error {
	if !r.Current() {
		return ErrStale
	}
	if known, revision := r.labels.Get(name); known.HasClaim(parent, root) && r.everywhere(revision) {
		return nil
	}
	sender, _ := labels.Split(name)
	return r.updateSession(ctx, name, func(old labels.Record, now time.Time) (labels.Record, bool, error) {
		if old.HasClaim(parent, root) {
			return old, false, nil
		}
		next, ok := old.Claiming(now, parent, root, r.Session(labels.Name(sender, parent)))
		if !ok { // without the claim it would lack the labels of its parent
			return old, false, wire.Errorf(wire.Overloaded, "the session names more than %d others as its parents or roots, which is the limit: begin another session", labels.MaxClaims)
		}
		if both := r.labels.Merging(next); len(both) > 0 {
			next = next.With("", r.labels.After(name, both, now), both...)
		}
		return next, true, nil
	})
}

// AskToRemove notes that a person is asked to remove labels from a session, and when. After it
// returns without an error, every replica stores these labels again when a hook adds them.
func (r *Registry) AskToRemove(ctx context.Context, name string, remove []string) (asked time.Time, err error) {
	err = r.updateSession(ctx, name, func(old labels.Record, now time.Time) (labels.Record, bool, error) {
		asked = r.labels.After(name, remove, now)
		return old.Asking(asked, remove...), true, nil
	})
	return asked, err
}

// LabelsAgain returns those of labels that a session got again after a person was asked to remove
// them. Its error is that of [Registry.Labels].
func (r *Registry) LabelsAgain(name string, remove []string, asked time.Time) ([]string, error) {
	if !r.Current() {
		return nil, ErrStale
	}
	return r.labels.Again(name, remove, asked), nil
}

// RemoveLabels removes labels from a session's tree, except where a hook added them after a person
// was asked. After it returns without an error, every replica knows.
func (r *Registry) RemoveLabels(ctx context.Context, name string, remove []string, asked time.Time) error {
	for _, member := range r.labels.Having(name, remove) {
		err := r.updateSession(ctx, member, func(old labels.Record, now time.Time) (labels.Record, bool, error) {
			return old.Without(now, asked, remove...), true, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// updateSession changes the record of a session and waits until every replica knows. change is
// called again if another replica wrote first. Even if it changes nothing, earlier writes to the
// tree may still have to reach other replicas.
func (r *Registry) updateSession(ctx context.Context, name string, change func(old labels.Record, now time.Time) (labels.Record, bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, 2*r.options.Lease)
	defer cancel()
	return r.update(ctx, func() (uint64, error) {
		old, at := r.labels.Get(name)
		next, differs, err := change(old, time.Now())
		if err != nil {
			return 0, err
		}
		if !differs {
			return r.labels.Newest(name), nil
		}
		if err := r.hasRoom(next); err != nil {
			return 0, err
		}
		body, err := next.Encode()
		if err != nil {
			return 0, err
		}
		revision, err := r.bucket.Update(ctx, labelKey+labels.Key(name), body, at)
		return revision, storeError("the session's labels", err)
	})
}

// hasRoom checks the limits of sessions for a record that is to be stored. A session that is
// only claimed counts too.
func (r *Registry) hasRoom(next labels.Record) error {
	growth := r.labels.Growth(next)
	if growth == 0 || r.labels.Len()+growth <= maxLabeled && r.labels.LenOf(next.Sender)+growth <= maxOfOneSender {
		return nil
	}
	return wire.Errorf(wire.Overloaded, "too many sessions have labels or a lineage: %d at most, %d of one agent", maxLabeled, maxOfOneSender)
}

// forget removes session records past their [labels.Retention].
func (r *Registry) forget(ctx context.Context) error {
	return every(ctx, r.options.Forget, func() {
		if !r.Current() {
			return
		}
		for key, revision := range r.labels.Old(time.Now()) {
			_ = r.bucket.Remove(ctx, labelKey+key, revision) // another replica may have removed it
		}
	})
}

// labeled applies the session records of a batch and reports whether there are any. They take
// effect before the rest of the batch does: a label that comes early only restricts.
func (f *follower) labeled(batch []natsx.Entry) (found bool) {
	r := f.registry
	for _, e := range batch {
		key, ok := strings.CutPrefix(e.Key, labelKey)
		if !ok {
			continue
		}
		found = true
		if e.Value == nil {
			r.labels.Drop(key, time.Now())
			continue
		}
		record, err := labels.Decode(e.Value)
		if err != nil || labels.Key(record.Name()) != key {
			r.options.Log.Error("session record unreadable; its labels are unknown", "key", e.Key, "error", err)
			continue
		}
		r.labels.Apply(record, e.Revision)
	}
	return found
}
