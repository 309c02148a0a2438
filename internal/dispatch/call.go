package dispatch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookrouter/hookrouter/internal/telemetry"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// caller is the [chain.Caller] of the hooks of one event.
func (d *Dispatcher) caller(ev *event) chain.Caller {
	return func(ctx context.Context, entry *chain.Entry, in events.Event) (chain.Result, error) {
		reply, err := d.call(ctx, ev, entry, in)
		switch {
		case errors.Is(err, ErrConnection):
			err = chain.Abort{Err: wire.Errorf(wire.Unavailable, "%v: try again", ErrConnection)}
		case errors.Is(err, ErrCallTooLarge):
			err = chain.Abort{Err: wire.Errorf(wire.TooLarge, "%v", ErrCallTooLarge)}
		}
		if err != nil {
			return chain.Result{Policy: chain.CleanPolicy(reply.Policy)}, err
		}
		result, err := resultOf(reply)
		if err == nil {
			err = d.allowed(entry.ID, result)
		}
		return result, err
	}
}

// resultOf reads a hook's reply.
func resultOf(reply Reply) (chain.Result, error) {
	result, err := chain.ParseResult(reply.Body)
	if err == nil && reply.Rule != "" {
		result.Rule = chain.CleanRule(reply.Rule)
	}
	if reply.Policy != "" {
		result.Policy = chain.CleanPolicy(reply.Policy)
	}
	return result, err
}

// allowed rejects a result that the credentials of the hook's worker do not permit. A question
// with changed data counts as a change too.
func (d *Dispatcher) allowed(hook string, r chain.Result) error {
	actions := []chain.Action{r.Action}
	if r.Data != nil && r.Action != chain.Deny {
		actions = append(actions, chain.Modify)
	}
	for _, action := range actions {
		if !d.opts.Workers.Allows(hook, action) {
			return fmt.Errorf("%w: the credentials of its worker do not permit the action %s", chain.ErrInvalidResult, action)
		}
	}
	return nil
}

// call calls one hook in its mode. The context ends with the hook's timeout.
func (d *Dispatcher) call(ctx context.Context, ev *event, entry *chain.Entry, in events.Event) (Reply, error) {
	timeout := entry.Timeout()
	if end, ok := ctx.Deadline(); ok {
		timeout = time.Until(end)
	}
	data, err := d.visible(entry, in.Data)
	if err != nil {
		return Reply{}, err
	}
	pinned := slices.Contains(ev.pinned, entry)
	reply, err := ev.channel.Call(ctx, Call{
		Hook: entry.ID, Mode: cmp.Or(entry.Mode, chain.Enforce), Data: data, Timeout: timeout, Traceparent: ev.callTrace(entry),
		Labels: in.Extensions[events.AttrLabels], Echoed: entry.Echoes || pinned,
	})
	if errors.Is(err, chain.ErrNoResponder) && !pinned && d.removed(entry) {
		return Reply{}, chain.ErrRemoved
	}
	return reply, err
}

// callTrace is the traceparent of a call; empty without tracing.
func (ev *event) callTrace(entry *chain.Entry) string {
	if ev.trace == nil {
		return ""
	}
	return ev.trace.Call(entry.ID)
}

// removed reports whether a hook without responders is no longer registered. Workers keep listening
// until every replica knows of a removal, so this replica knows of it too.
func (d *Dispatcher) removed(entry *chain.Entry) bool {
	table, err := d.hooks.Table()
	return err == nil && table.Get(entry.ID) == nil
}

// maxShadow bounds the shadow calls in flight.
const maxShadow = 256

// shadow calls a hook in mode shadow. The chain does not wait for it.
func (d *Dispatcher) shadow(ctx context.Context, ev *event) func(*chain.Entry, events.Event) {
	return func(entry *chain.Entry, in events.Event) {
		started := d.shadowCalls.TryGo(func() error {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), entry.Timeout())
			defer cancel()
			d.callShadow(ctx, ev, entry, in)
			return nil
		})
		if !started {
			d.dropped(entry)
		}
	}
}

// dropped counts a shadow or async call that exceeded the limit.
func (d *Dispatcher) dropped(entry *chain.Entry) {
	d.counters.shadowDropped.Add(1)
	d.observer.UnawaitedDropped(entry.ID)
}

func (d *Dispatcher) callShadow(ctx context.Context, ev *event, entry *chain.Entry, in events.Event) {
	call := d.callUnawaited(ctx, ev, entry, in)
	d.counters.shadow.Add(1)
	d.note(d.shadowed(ev, &call, in.Data))
	d.log.DebugContext(ev.trace.Context(), "shadow hook answered", "hook", entry.ID, "event", ev.name(), "session_id", ev.session(),
		"chain_id", ev.chainID, "action", call.Result.Action, "reason", d.view.Masked(call.Result.Reason), "error", d.masked(call.Err))
}

// callUnawaited calls a hook whose answer the agent does not wait for, in mode shadow or async, and
// reports the call to the observer.
func (d *Dispatcher) callUnawaited(ctx context.Context, ev *event, entry *chain.Entry, in events.Event) chain.Call {
	call := chain.Call{Entry: entry, Start: time.Now()}
	reply, err := d.call(ctx, ev, entry, in)
	call.Result.Policy = chain.CleanPolicy(reply.Policy)
	if err == nil {
		call.Result, err = resultOf(reply)
	}
	if err == nil && entry.Mode == chain.Async {
		err = d.allowed(entry.ID, call.Result)
	}
	if call.Took, call.Err, call.Failure = time.Since(call.Start), err, chain.FailureOf(err); err != nil {
		call.Result = chain.Result{Policy: call.Result.Policy}
	}
	when := telemetry.Interval{From: call.Start, To: call.Start.Add(call.Took)}
	d.observer.Unawaited(ev.trace, telemetry.Answer{Entry: entry, When: when, Failure: call.Failure}, call.Result.Action, err != nil)
	return call
}

// counters are totals since the start.
type counters struct {
	shadow, shadowDropped atomic.Int64
	failedOpen            atomic.Int64
	failures              sync.Map // chain.Failure → *atomic.Int64
}

// failed counts the failures among the calls of a chain.
func (c *counters) failed(calls []chain.Call) {
	for i := range calls {
		failure := calls[i].Failure
		if failure == "" {
			continue
		}
		n, _ := c.failures.LoadOrStore(failure, new(atomic.Int64))
		n.(*atomic.Int64).Add(1)
		if calls[i].FailedOpen {
			c.failedOpen.Add(1)
		}
	}
}

func (c *counters) snapshot() map[string]int64 {
	totals := map[string]int64{
		"shadow": c.shadow.Load(), "shadow_dropped": c.shadowDropped.Load(), "failed_open": c.failedOpen.Load(),
	}
	c.failures.Range(func(class, n any) bool {
		totals[fmt.Sprintf("failed_%s", class)] = n.(*atomic.Int64).Load()
		return true
	})
	return totals
}
