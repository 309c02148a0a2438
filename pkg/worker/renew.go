package worker

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/clientconn"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
)

const (
	// retryAfter is the pause after a failed renewal.
	retryAfter = 500 * time.Millisecond
	// maxRenewals bounds the concurrent renewals of a worker.
	maxRenewals = 16
	// headStart is how long a renewal runs alone before the next one starts.
	headStart = 50 * time.Millisecond
)

// setDue ends a renewal, schedules the next one and wakes renew, which may be waiting for a later
// one.
func (w *Worker) setDue(hook *registered, in time.Duration) {
	w.mu.Lock()
	hook.due, hook.renewing = time.Now().Add(in), false
	w.mu.Unlock()
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// takeDue marks a hook that is due for renewal as being renewed, and reports whether it was due. A
// hook that is still being registered is not.
func (w *Worker) takeDue(hook *registered, all bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	due := w.hooks[hook.id] == hook && !hook.renewing && !hook.due.IsZero() && (all || !time.Now().Before(hook.due))
	hook.renewing = hook.renewing || due
	return due
}

// renew renews registrations when they are due until ctx ends, and all of them after a reconnect.
func (w *Worker) renew(ctx context.Context) {
	reconnected := w.conn.Transport.Conn().StatusChanged(nats.CONNECTED)
	defer w.conn.Transport.Conn().RemoveStatusListener(reconnected)
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		all := false
		select {
		case <-ctx.Done():
			return
		case _, ok := <-reconnected:
			if !ok { // the connection was closed for good
				return
			}
			all = true
		case <-w.wake:
		case <-timer.C:
		}
		w.renewDue(ctx, all)
		timer.Reset(w.untilDue())
	}
}

// inOrder returns the hooks in order of registration.
func (w *Worker) inOrder() []*registered {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.SortedFunc(maps.Values(w.hooks), func(a, b *registered) int { return cmp.Compare(a.order, b.order) })
}

// untilDue returns the time until the next renewal, or an hour if there is none or while
// disconnected: a reconnect wakes renew.
func (w *Worker) untilDue() time.Duration {
	if !w.conn.Transport.Connected() {
		return time.Hour
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	wait := time.Hour
	for _, hook := range w.hooks {
		if !hook.due.IsZero() && !hook.renewing {
			wait = min(wait, time.Until(hook.due))
		}
	}
	return wait
}

// renewDue starts the renewal of the due hooks, or of all, and does not wait for the last ones. It
// starts them in order of registration, so that routers that lost them restore that order. A slow
// renewal does not hold up the others. While disconnected it does nothing: the client library would
// send them all at once after the reconnect, in any order.
func (w *Worker) renewDue(ctx context.Context, all bool) {
	for _, hook := range w.inOrder() {
		if !w.conn.Transport.Connected() {
			return
		}
		if !w.takeDue(hook, all) {
			continue
		}
		select {
		case w.limiter <- struct{}{}:
		case <-ctx.Done():
			return
		}
		done := make(chan struct{})
		w.renewal.Go(func() {
			defer close(done)
			defer func() { <-w.limiter }()
			w.renewHook(ctx, hook)
		})
		select {
		case <-done:
		case <-time.After(headStart):
		}
	}
}

func (w *Worker) renewHook(ctx context.Context, hook *registered) {
	hook.announcing.Lock()
	defer hook.announcing.Unlock()
	w.mu.Lock()
	here := w.hooks[hook.id] == hook
	w.mu.Unlock()
	if !here { // unregistered in the meantime
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if err := w.send(ctx, hook, clientconn.Never); err != nil {
		w.setDue(hook, retryAfter)
		if lost := errors.Is(err, hookrouter.ErrConnectionLost); !lost && !errors.Is(err, context.Canceled) { // a reconnect renews it
			w.conn.Log.Warn("renewal of a registration failed; retrying", "hook", hook.id, "error", err)
		}
	}
}
