package router

import (
	"encoding/json"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/hookrouter/hookrouter/internal/bus"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/redact"
)

// publishEvent tells whoever watches that an event was taken, once, before the
// first of its hooks is called.
func (r *Router) publishEvent(a *arrival) {
	if a.told {
		return
	}
	a.told = true
	data := a.sent
	switch r.PublishData {
	case PublishRedacted:
		data, _ = redact.Object(data)
	case PublishNone:
		data = []byte("{}")
	}
	r.publish(r.bus.Event("event", a.Name), a.header, data)
}

func (r *Router) publish(subject string, h bus.Header, body []byte) {
	if err := r.bus.Publish(subject, h, body); err != nil {
		r.Log.Warn("could not publish for observers", "subject", subject, "error", err)
	}
}

// resultRecord is the body of hooks.result.<event>.
type resultRecord struct {
	ChainID   string       `json:"chain_id"`
	EventID   string       `json:"event_id"`
	SessionID string       `json:"session_id"`
	Event     string       `json:"event"`
	Action    chain.Action `json:"action"`
	Reason    string       `json:"reason,omitempty"`
	DeniedBy  string       `json:"denied_by,omitempty"`
	Hooks     []hopRecord  `json:"hooks"`
}

type hopRecord struct {
	ID         string        `json:"id"`
	Action     chain.Action  `json:"action,omitempty"`
	Micros     int64         `json:"us"`
	Failure    chain.Failure `json:"failure,omitempty"`
	FailedOpen bool          `json:"failed_open,omitempty"`
}

// resultBody is how a chain went, without data.
func resultBody(a *arrival, out chain.Outcome) []byte {
	rec := resultRecord{
		ChainID: a.chainID, EventID: a.ID, SessionID: a.Session, Event: a.Name,
		Action: out.Result.Action, Reason: out.Result.Reason, DeniedBy: out.DeniedBy, Hooks: make([]hopRecord, len(out.Hops)),
	}
	for i, hop := range out.Hops {
		rec.Hooks[i] = hopRecord{hop.Link.ID, hop.Result.Action, hop.Took.Microseconds(), hop.Failure, hop.FailedOpen}
		if hop.Failure == "" && hop.Result.Action == "" {
			rec.Hooks[i].Action = chain.Continue
		}
	}
	body, _ := json.Marshal(rec) // strings and numbers only
	return body
}

// log writes a line for a chain, and one for each hook that failed.
func (r *Router) log(a *arrival, out chain.Outcome) {
	for _, hop := range out.Hops {
		if hop.Failure != "" {
			r.Log.Warn("a hook failed", "hook", hop.Link.ID, "event", a.Name, "session", a.Session, "chain", a.chainID,
				"failure", hop.Failure, "failed_open", hop.FailedOpen, "error", hop.Err)
		}
	}
	r.Log.LogAttrs(nil, slog.LevelInfo, "event", slog.String("event", a.Name), slog.String("session", a.Session), //nolint:staticcheck // no handler of ours reads the context
		slog.String("chain", a.chainID), slog.String("action", string(out.Result.Action)), slog.Int("hooks", len(out.Hops)),
		slog.String("denied_by", out.DeniedBy))
}

// counts is what the router counts besides requests; discovery shows it.
type counts struct {
	shadow, shadowDropped atomic.Int64
	failedOpen            atomic.Int64
	failures              sync.Map // chain.Failure → *atomic.Int64
}

func (c *counts) hops(hops []chain.Hop) {
	for _, hop := range hops {
		if hop.Failure == "" {
			continue
		}
		n, _ := c.failures.LoadOrStore(hop.Failure, new(atomic.Int64))
		n.(*atomic.Int64).Add(1)
		if hop.FailedOpen {
			c.failedOpen.Add(1)
		}
	}
}

func (c *counts) data() any {
	data := map[string]int64{
		"shadow": c.shadow.Load(), "shadow_dropped": c.shadowDropped.Load(), "failed_open": c.failedOpen.Load(),
	}
	c.failures.Range(func(class, n any) bool {
		data["failed_"+string(class.(chain.Failure))] = n.(*atomic.Int64).Load()
		return true
	})
	return data
}

// shadowLimit is how many shadow calls may be under way.
const shadowLimit = 256

// beside runs what is not waited for, at most so much at once.
type beside struct {
	slots bus.Slots
	wg    sync.WaitGroup
}

// start runs do in a goroutine of its own, unless too many are under way.
func (b *beside) start(do func()) bool {
	select {
	case b.slots <- struct{}{}:
	default:
		return false
	}
	b.wg.Go(func() {
		defer func() { <-b.slots }()
		do()
	})
	return true
}

func (b *beside) wait() { b.wg.Wait() }
