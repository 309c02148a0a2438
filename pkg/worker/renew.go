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

	"github.com/hookrouter/hookrouter/internal/bus"
)

// retryAfter is how soon a renewal that failed is tried again.
const retryAfter = 500 * time.Millisecond

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

// send registers or renews a hook, and wakes the renewal, which may be waiting for
// a later one.
func (w *Worker) send(ctx context.Context, hook *registered) error {
	var reply struct {
		TTLMS int64 `json:"ttl_ms"`
	}
	if err := w.request(ctx, "register", hook.id, hook.body, &reply); err != nil {
		return fmt.Errorf("register hook %s: %w", hook.id, err)
	}
	ttl := time.Duration(max(reply.TTLMS, 30)) * time.Millisecond
	w.setDue(hook, ttl/3)
	select {
	case w.wake <- struct{}{}:
	default:
	}
	return nil
}

func (w *Worker) setDue(hook *registered, in time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	hook.due = time.Now().Add(in)
}

// passing reports whether an error may be gone the next time.
func passing(err error) bool {
	if refusal, ok := errors.AsType[*bus.Refusal](err); ok {
		return refusal.Code == bus.Unavailable || refusal.Code == bus.Overloaded
	}
	return errors.Is(err, bus.ErrNoResponders) || errors.Is(err, bus.ErrAway)
}

// renew keeps every registration alive until ctx ends; after a reconnect it
// renews them all at once.
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

// inOrder lists the hooks in the order of their registration, in which they must
// come back where the routers forgot them.
func (w *Worker) inOrder() []*registered {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.SortedFunc(maps.Values(w.hooks), func(a, b *registered) int { return cmp.Compare(a.order, b.order) })
}

// untilDue is the time until the next renewal; an hour where there is none.
func (w *Worker) untilDue() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	wait := time.Hour
	for _, hook := range w.hooks {
		if !hook.due.IsZero() {
			wait = min(wait, time.Until(hook.due))
		}
	}
	return wait
}

// renewDue renews the hooks whose time has come, or all of them. A hook that is
// still being registered is left to whoever does so.
func (w *Worker) renewDue(ctx context.Context, all bool) {
	for _, hook := range w.inOrder() {
		if ctx.Err() != nil {
			return
		}
		w.renewHook(ctx, hook, all)
	}
}

func (w *Worker) renewHook(ctx context.Context, hook *registered, all bool) {
	hook.talk.Lock()
	defer hook.talk.Unlock()
	w.mu.Lock()
	due := w.hooks[hook.id] == hook && !hook.due.IsZero() && (all || !time.Now().Before(hook.due))
	w.mu.Unlock()
	if !due {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
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
	if errors.Is(err, bus.ErrNoResponders) {
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
