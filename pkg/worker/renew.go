package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/bus"
)

// retryAfter is how soon a renewal that failed is tried again.
const retryAfter = 500 * time.Millisecond

// announce sends a registration and notes when it is to be renewed. While no
// router can answer it tries again, until ctx ends.
func (w *Worker) announce(ctx context.Context, id string, hook *registered) error {
	if _, bounded := ctx.Deadline(); !bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, 15*time.Second)
		defer cancel()
	}
	for {
		err := w.send(ctx, id, hook)
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

func (w *Worker) send(ctx context.Context, id string, hook *registered) error {
	var reply struct {
		TTLMS int64 `json:"ttl_ms"`
	}
	if err := w.request(ctx, "register", id, hook.body, &reply); err != nil {
		return fmt.Errorf("register hook %s: %w", id, err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	hook.ttl = time.Duration(max(reply.TTLMS, 300)) * time.Millisecond
	hook.due = time.Now().Add(hook.ttl / 3)
	return nil
}

// passing reports whether an error may be gone the next time.
func passing(err error) bool {
	var refusal *bus.Refusal
	if errors.As(err, &refusal) {
		return refusal.Code == bus.Unavailable || refusal.Code == bus.Overloaded
	}
	return errors.Is(err, bus.ErrNoResponders) || errors.Is(err, nats.ErrReconnectBufExceeded)
}

// renew keeps every registration alive until ctx ends; after a reconnect it
// renews them all at once.
func (w *Worker) renew(ctx context.Context) {
	reconnected := w.bus.Conn().StatusChanged(nats.CONNECTED)
	defer w.bus.Conn().RemoveStatusListener(reconnected)
	timer := time.NewTimer(retryAfter)
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
		case <-timer.C:
		}
		w.renewDue(ctx, all)
		timer.Reset(retryAfter)
	}
}

func (w *Worker) renewDue(ctx context.Context, all bool) {
	now := time.Now()
	w.mu.Lock()
	due := map[string]*registered{}
	for id, hook := range w.hooks {
		if all || now.After(hook.due) {
			due[id] = hook
		}
	}
	w.mu.Unlock()
	for id, hook := range due {
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
		if err := w.send(ctx, id, hook); err != nil && ctx.Err() == nil {
			w.Log.Warn("could not renew a registration: trying again", "hook", id, "error", err)
		}
		cancel()
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
