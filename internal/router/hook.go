package router

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/nats-io/nuid"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/telemetry"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// caller calls the hooks of one chain over the bus.
type caller struct {
	*Router
	a      *arrival
	chain  context.Context
	header wire.Header // a copy of the arrival's that calls one after the other may share; nil where calls run beside each other
}

// callHeader is what a call carries besides what every message about the event
// does: its id, the mode, and the time left where there is an end.
func (c caller) callHeader(mode chain.Mode, link *chain.Entry, left time.Duration) wire.Header {
	h := c.header
	if h == nil {
		h = make(wire.Header, len(c.a.header)+3)
		maps.Copy(h, c.a.header)
	}
	values := [...]string{nuid.Next(), string(mode), "", ""}
	h[wire.HeaderCallID] = values[0:1:1]
	h[wire.HeaderMode] = values[1:2:2]
	if left > 0 {
		values[2] = millis(left)
		h[wire.HeaderTimeout] = values[2:3:3]
	}
	if c.a.trace != nil && mode != chain.Observe { // who observes is told where the event was, not called from there
		values[3] = c.a.trace.Call(link.ID)
		h[wire.HeaderTraceparent] = values[3:4:4]
	}
	return h
}

// hook is the [chain.Caller] of a hook on the bus. Its context ends when the
// time for this call is over.
func (c caller) hook(ctx context.Context, link *chain.Entry, ev events.Event) (chain.Result, error) {
	reply, err := c.request(ctx, chain.Enforce, link, ev.Data)
	if err != nil {
		return chain.Result{}, err
	}
	return chain.ParseResult(reply)
}

// request asks a hook and returns its reply, bounded in size.
func (c caller) request(ctx context.Context, mode chain.Mode, link *chain.Entry, data []byte) ([]byte, error) {
	left := link.Timeout()
	if end, ok := ctx.Deadline(); ok {
		left = time.Until(end)
	}
	if c.header != nil {
		c.publishEvent(c.a) // at the last moment before the first call, so that both leave in one write
	}
	header := c.callHeader(mode, link, left)
	reply, err := c.bus.Request(ctx, c.bus.Call(link.ID), header, data)
	switch {
	case errors.Is(err, natsx.ErrNoResponders):
		return nil, c.absent(link)
	case wire.CodeOf(err) == wire.Deadline: // the hook noticed first
		return nil, context.DeadlineExceeded
	case wire.CodeOf(err) == wire.InvalidResult:
		return nil, fmt.Errorf("%w: %w", chain.ErrInvalidResult, err)
	case err != nil:
		return nil, err
	case len(reply.Data) > c.MaxReply:
		return nil, fmt.Errorf("%w: it has %d bytes, at most %d are allowed", chain.ErrInvalidResult, len(reply.Data), c.MaxReply)
	}
	return reply.Data, nil
}

// absent says why nobody answers for a hook. Whoever takes one off goes on listening
// until every replica knows, so a hook that was removed is known to be.
func (c caller) absent(link *chain.Entry) error {
	if table, err := c.registry.Table(); err == nil && table.Get(link.ID) == nil {
		return chain.ErrRemoved
	}
	return chain.ErrNoResponder
}

// shadow calls a shadow hook beside the chain. It never waits: when too many are
// under way the call is left out, and counted.
func (c caller) shadow(link *chain.Entry, ev events.Event) {
	c.publishEvent(c.a)
	c.header = nil
	started := c.beside.start(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(c.chain), link.Timeout())
		defer cancel()
		start := time.Now()
		reply, err := c.request(ctx, chain.Shadow, link, ev.Data)
		var result chain.Result
		if err == nil {
			result, err = chain.ParseResult(reply)
		}
		c.counts.shadow.Add(1)
		c.tellShadow(c.a, link, telemetry.Interval{From: start, To: time.Now()}, result, err)
		c.shadowed(c.a, link, ev, result, time.Since(start), err)
		c.Log.DebugContext(c.a.trace.Context(), "shadow hook answered", "hook", link.ID, "event", ev.Name, "session", ev.Session, "chain", c.a.chainID,
			"action", result.Action, "reason", c.audit.View().Masked(result.Reason), "error", c.masked(err))
	})
	if !started {
		c.counts.shadowDropped.Add(1)
		c.metrics.ShadowDropped(link.ID)
	}
}

// tellObservers publishes the chained data to the hooks in mode observe.
func (r *Router) tellObservers(a *arrival, out chain.Outcome) {
	for i, link := range a.links {
		if link.Mode == chain.Observe {
			r.observe(a, a.links[i:i+1], out.Data)
		}
	}
}
