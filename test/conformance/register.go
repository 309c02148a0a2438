package conformance

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

// instance is this runner's name among the workers of a hook.
const instance = "conformance"

// hook is a scripted hook or contributor on the bus.
type hook struct {
	id       string // what the case calls it
	busID    string // its id on the bus
	body     []byte // its registration
	behavior Behavior
	served   int // calls so far; only dispatch touches it

	bridged    bool               // Target.Hooks answers for it, and renews it
	renewAfter time.Time          // a third of its time to live after the last registration
	sub        *nats.Subscription // nil for no_responder
}

func (b *bench) registerHook(ctx context.Context, h Handler) error {
	registration := map[string]any{
		"name": h.Name, "events": []string{h.Event}, "priority": h.Priority, "on_failure": h.OnFailure,
	}
	if h.TimeoutMS > 0 {
		registration["timeout_ms"] = h.TimeoutMS
	}
	return b.register(ctx, h.ID, h.Behavior, registration)
}

func (b *bench) registerContributor(ctx context.Context, c Contributor) error {
	return b.register(ctx, c.ID, c.Behavior, map[string]any{
		"name": c.Name, "channels": []string{c.Channel},
	})
}

// register subscribes before it registers: the router may call as soon as it
// knows the hook. Of a hook that a bridge answers for, this gets a copy of each call.
func (b *bench) register(ctx context.Context, id string, behavior Behavior, registration map[string]any) error {
	if b.find(id) != nil {
		return fmt.Errorf("register %s: the id is registered already", id)
	}
	h := &hook{id: id, busID: b.busID(id), behavior: behavior}
	h.bridged = b.target.Hooks != nil && !behavior.NoResponder
	registration["id"] = h.busID
	if !behavior.NoResponder {
		group := h.busID
		if h.bridged {
			group = "" // a copy, beside the group that the bridge is in
		}
		sub, err := b.target.Conn.ChanQueueSubscribe(b.callSubject(h), group, b.queue)
		if err != nil {
			return fmt.Errorf("register %s: %w", id, err)
		}
		h.sub = sub
	}
	b.mu.Lock()
	b.hooks[b.callSubject(h)] = h
	b.mu.Unlock()
	b.order = append(b.order, h)
	if h.bridged {
		return b.target.Hooks.do(ctx, "register", b.target.Prefix, map[string]any{"registration": registration, "behavior": behavior})
	}
	registration["instance"] = instance
	h.body = encode(registration)
	return b.announce(ctx, h)
}

// announce sends the registration, for the first time or to renew it.
func (b *bench) announce(ctx context.Context, h *hook) error {
	reply, err := requestJSON[map[string]any](ctx, b.target, b.target.subject("register", h.busID), nil, h.body)
	if err != nil {
		return fmt.Errorf("register %s: %w", h.id, err)
	}
	if got := reply["call_subject"]; got != b.callSubject(h) {
		return fmt.Errorf("register %s: %w", h.id, unmet("call_subject", b.callSubject(h), got))
	}
	ttl, err := milliseconds(reply["ttl_ms"])
	if err != nil {
		return fmt.Errorf("register %s: read ttl_ms: %w", h.id, err)
	}
	h.renewAfter = time.Now().Add(ttl / 3)
	return nil
}

// renew keeps alive what a long case might lose. It is called between steps, and
// a step is shorter than two thirds of a time to live.
func (b *bench) renew(ctx context.Context) error {
	for _, h := range b.order {
		if h.bridged || time.Now().Before(h.renewAfter) {
			continue
		}
		if err := b.announce(ctx, h); err != nil {
			return err
		}
	}
	return nil
}

// unregister removes a hook from the bus. Of one that is not there it tells the
// router all the same: that must be no error.
func (b *bench) unregister(ctx context.Context, id string) error {
	busID := b.busID(id)
	if h := b.find(id); h != nil {
		b.order = slices.DeleteFunc(b.order, func(o *hook) bool { return o == h })
		defer b.silence(h)
		if h.bridged {
			return b.target.Hooks.do(ctx, "unregister", b.target.Prefix, map[string]any{"id": busID})
		}
	}
	if _, err := b.target.request(ctx, b.target.subject("unregister", busID), nil, []byte("{}")); err != nil {
		return fmt.Errorf("unregister %s: %w", id, err)
	}
	return nil
}

// silence ends the deliveries to a hook that is off the bus.
func (b *bench) silence(h *hook) {
	b.mu.Lock()
	delete(b.hooks, b.callSubject(h))
	b.mu.Unlock()
	if h.sub == nil {
		return
	}
	if err := h.sub.Unsubscribe(); err != nil {
		b.journal.problem(fmt.Errorf("unsubscribe %s: %w", h.id, err))
	}
}

// find returns the live hook of that id, nil where there is none.
func (b *bench) find(id string) *hook {
	busID := b.busID(id)
	i := slices.IndexFunc(b.order, func(h *hook) bool { return h.busID == busID })
	if i < 0 {
		return nil
	}
	return b.order[i]
}

func (b *bench) callSubject(h *hook) string { return b.target.subject("call", h.busID) }

var notInHookID = regexp.MustCompile(`[^a-z0-9_-]`)

// busID makes an id of the case one of the protocol. Ids of one case that differ
// only in what the protocol does not allow meet, which register refuses.
func (b *bench) busID(id string) string {
	return b.tag + "-" + notInHookID.ReplaceAllString(strings.ToLower(id), "-")
}
