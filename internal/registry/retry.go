package registry

import (
	"context"
	"errors"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/wire"
)

// errRetry makes [Registry.retry] try again at once.
var errRetry = errors.New("try again")

// update calls [Registry.retry], and then waits until every replica knows the revision that try
// returned.
func (r *Registry) update(ctx context.Context, try func() (uint64, error)) error {
	revision, err := r.retry(ctx, try)
	if err != nil {
		return err
	}
	return r.seenByAll(ctx, revision)
}

// retry calls try until it wins against other writers. try decides by what this replica knows,
// writes at that revision and returns the new one. After [natsx.ErrRevision], it is called again
// once this replica has read more. The error is [ErrStale] if this replica holds no lease.
func (r *Registry) retry(ctx context.Context, try func() (uint64, error)) (uint64, error) {
	for {
		if !r.Current() {
			return 0, ErrStale
		}
		r.mu.Lock()
		changed := r.changed // before try reads
		r.mu.Unlock()
		revision, err := try()
		switch {
		case errors.Is(err, natsx.ErrRevision):
			if err := wait(ctx, changed); err != nil {
				return 0, err
			}
		case !errors.Is(err, errRetry):
			return revision, err
		}
	}
}

// recorder returns a function that records a change, unless it just recorded the same one: a try
// after a lost race is already on record.
func (r *Registry) recorder(ctx context.Context) func(Change) error {
	var last Change
	return func(c Change) error {
		if c.same(last) {
			return nil
		}
		last = c
		return r.options.Record(ctx, c)
	}
}

// writeOrder writes an operator's order at the revision that it replaces; nil removes the order, and
// then there is no revision to return.
func (r *Registry) writeOrder(ctx context.Context, c Change, key string, order []byte) (revision uint64, err error) {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	if order == nil {
		err = r.bucket.Remove(ctx, key, c.Revision)
	} else {
		revision, err = r.bucket.Update(ctx, key, order, c.Revision)
	}
	if err == nil {
		r.options.Log.Warn("order about a hook stored", "action", c.Action, "hook", c.Hook, "by", c.By, "reason", c.Reason)
	}
	return revision, storeError("the order", err)
}

// storeError turns the error of a write into one for clients. It keeps [natsx.ErrRevision].
func storeError(what string, err error) error {
	if err == nil || errors.Is(err, natsx.ErrRevision) {
		return err
	}
	return wire.Errorf(wire.Unavailable, "%s could not be stored: %v: send it again", what, err)
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
		return wire.Errorf(wire.Unavailable, "other writers keep winning, or the log of registrations has stalled: try again")
	}
}
