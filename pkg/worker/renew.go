package worker

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/wire"
)

const (
	// retryAfter is how soon a renewal that failed is tried again.
	retryAfter = 500 * time.Millisecond
	// maxRenewals is how many renewals of a worker are under way at once.
	maxRenewals = 16
	// headStart is how long a renewal is waited for before the next one begins
	// beside it.
	headStart = 50 * time.Millisecond
)

// announce sends a registration and notes when it is to be renewed. While no
// router can answer it tries again, until ctx ends.
func (w *Worker) announce(ctx context.Context, hook *registered) error {
	if _, bounded := ctx.Deadline(); !bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, 15*time.Second)
		defer cancel()
	}
	for {
		err := w.send(ctx, hook)
		if err == nil || !passing(err) {
			return err
		}
		select {
		case <-time.After(retryAfter):
		case <-ctx.Done():
			return err
		}
	}
}

// send registers or renews a hook, and notes when it is to be renewed.
func (w *Worker) send(ctx context.Context, hook *registered) error {
	var reply struct {
		TTLMS int64 `json:"ttl_ms"`
	}
	if err := w.request(ctx, "register", hook.id, marshal(hook.reg), &reply); err != nil {
		return fmt.Errorf("register hook %s: %w", hook.id, err)
	}
	ttl := time.Duration(max(reply.TTLMS, 30)) * time.Millisecond
	w.setDue(hook, ttl/3)
	return nil
}

// setDue ends a renewal with the time until the next one, and wakes renew, which
// may be waiting for a later one.
func (w *Worker) setDue(hook *registered, in time.Duration) {
	w.mu.Lock()
	hook.due, hook.renewing = time.Now().Add(in), false
	w.mu.Unlock()
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// takeDue reports whether a hook is to be renewed now, and then counts it as being
// renewed. A hook that is still being registered is left to whoever does so.
func (w *Worker) takeDue(hook *registered, all bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	due := w.hooks[hook.id] == hook && !hook.renewing && !hook.due.IsZero() && (all || !time.Now().Before(hook.due))
	hook.renewing = hook.renewing || due
	return due
}

// passing reports whether an error may be gone the next time.
func passing(err error) bool {
	if refusal, ok := errors.AsType[*wire.Error](err); ok {
		return refusal.Code == wire.Unavailable || refusal.Code == wire.Overloaded
	}
	return errors.Is(err, natsx.ErrNoResponders) || errors.Is(err, natsx.ErrDisconnected)
}

// unsure reports whether a registration that failed may be stored all the same.
func unsure(err error) bool {
	refusal, refused := errors.AsType[*wire.Error](err)
	return !refused || refusal.Code >= wire.Overloaded // an earlier try may have been stored
}

// renew keeps every registration alive until ctx ends; after a reconnect it
// renews them all, due or not.
func (w *Worker) renew(ctx context.Context) {
	reconnected := w.bus.Conn().StatusChanged(nats.CONNECTED)
	defer w.bus.Conn().RemoveStatusListener(reconnected)
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

// inOrder lists the hooks in the order of their registration.
func (w *Worker) inOrder() []*registered {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.SortedFunc(maps.Values(w.hooks), func(a, b *registered) int { return cmp.Compare(a.order, b.order) })
}

// untilDue is the time until the next renewal begins; an hour where there is none,
// or where a reconnect will begin it.
func (w *Worker) untilDue() time.Duration {
	if !w.bus.Connected() {
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

// renewDue begins to renew the hooks whose time has come, or all of them, and
// does not wait for the last of them. They begin in their order, in which they must
// come back where the routers forgot them; one that is not answered soon holds up
// no other. What would be sent without a connection is left to the reconnect: it
// would come all at once, in any order.
func (w *Worker) renewDue(ctx context.Context, all bool) {
	for _, hook := range w.inOrder() {
		if !w.bus.Connected() {
			return
		}
		if !w.takeDue(hook, all) {
			continue
		}
		select {
		case w.slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
		done := make(chan struct{})
		w.renewal.Go(func() {
			defer close(done)
			defer func() { <-w.slots }()
			w.renewHook(ctx, hook)
		})
		select {
		case <-done:
		case <-time.After(headStart):
		}
	}
}

func (w *Worker) renewHook(ctx context.Context, hook *registered) {
	hook.talk.Lock()
	defer hook.talk.Unlock()
	w.mu.Lock()
	here := w.hooks[hook.id] == hook
	w.mu.Unlock()
	if !here { // it was unregistered meanwhile
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	ctx, stop := w.bus.UntilLost(ctx, natsx.ErrDisconnected) // the reconnect renews it again, in its turn
	defer stop()
	if err := w.send(ctx, hook); err != nil {
		w.setDue(hook, retryAfter)
		if !errors.Is(err, context.Canceled) {
			w.Log.Warn("could not renew a registration: trying again", "hook", hook.id, "error", err)
		}
	}
}

// request asks the router and decodes its JSON reply into reply, unless nil.
func (w *Worker) request(ctx context.Context, verb, id string, body []byte, reply any) error {
	msg, err := w.bus.Request(ctx, w.bus.Of(verb, id), nil, body)
	if errors.Is(err, natsx.ErrNoResponders) {
		return fmt.Errorf("no router answers on %s: %w", w.bus.Of(verb, id), err)
	}
	if err != nil || reply == nil {
		return err
	}
	return json.Unmarshal(msg.Data, reply)
}

// marshal is for types of this package and the chain's, which always marshal.
func marshal(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
