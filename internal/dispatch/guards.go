package dispatch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// Guards are the hooks that an operator pinned; they may change between two events.
type Guards interface {
	// InForce returns the pinned hooks of an event, or an error with code 503 where one
	// is not in force as it was pinned.
	InForce(event string, t *chain.Table) ([]*chain.Entry, error)
}

// guard has the pinned guards of an event judge the data that the chain ended with,
// where it is not what they saw, and prefers their approval request to others. What they
// inject the second time does not count.
func (d *Dispatcher) guard(ctx context.Context, ev *event, out chain.Outcome, until time.Time) (chain.Outcome, error) {
	if len(ev.pinned) == 0 || out.DeniedBy != "" {
		return out, nil
	}
	final := out.Result.Data
	var changed []*chain.Entry
	for _, entry := range ev.pinned {
		if !bytes.Equal(ev.seen(entry, out), final) {
			changed = append(changed, entry)
		}
	}
	if len(changed) > 0 {
		in := ev.request.Event
		in.Data = final
		again, err := chain.Run(ctx, changed, in, chain.Plan{Call: d.caller(ev), Until: until})
		d.counters.calls(again.Calls)
		if errors.Is(err, chain.ErrDeadline) {
			return out, wire.Errorf(wire.Deadline, "the %s for this chain ran out before the pinned guards judged what hooks changed: nothing was decided", ev.timeout)
		}
		if err != nil {
			return out, err
		}
		out.Calls = append(out.Calls, withoutInjections(again.Calls)...)
		if again.DeniedBy != "" {
			out.Result, out.DeniedBy = again.Result, again.DeniedBy
			return out, nil
		}
		if !bytes.Equal(again.Data, final) {
			return denyOut(out, changed[0], "a pinned guard would change data that it must only judge: hooks after it had changed them"), nil
		}
	}
	return ev.askOnce(out), nil
}

// seen is the data as an entry of the chain left it: what it got, what its match was
// false for, or what it made of it.
func (ev *event) seen(entry *chain.Entry, out chain.Outcome) []byte {
	data := ev.data
	place := slices.Index(ev.hooks, entry)
	for _, call := range out.Calls {
		if slices.Index(ev.hooks, call.Entry) > place {
			break
		}
		if call.Result.Action == chain.Modify && call.Result.Data != nil {
			data = call.Result.Data
		}
	}
	return data
}

// askOnce has the approval request of a pinned guard asked, whatever other hooks asked
// before. Where two guards ask, one answer can't be that to both: the event is denied.
func (ev *event) askOnce(out chain.Outcome) chain.Outcome {
	asking := map[*chain.Entry]chain.Result{}
	var first *chain.Entry
	for _, call := range out.Calls {
		if call.Result.Action != chain.AskUser || !slices.Contains(ev.pinned, call.Entry) {
			continue
		}
		if first == nil {
			first = call.Entry
		}
		asking[call.Entry] = call.Result // the last one is about the data that goes on
	}
	switch {
	case first == nil:
		return out
	case len(asking) > 1:
		return denyOut(out, first, "more than one pinned guard asks a person about this event")
	}
	data := out.Result.Data
	out.Result, out.AskedBy = asking[first], first.ID
	if out.Result.Data == nil {
		out.Result.Data = data
	}
	return out
}

func denyOut(out chain.Outcome, by *chain.Entry, why string) chain.Outcome {
	out.Result, out.DeniedBy = chain.Denial(fmt.Sprintf("%s: %s", by.Title(), why)), by.ID
	return out
}

// withoutInjections drops what was injected before.
func withoutInjections(calls []chain.Call) []chain.Call {
	for i, call := range calls {
		if call.Result.Action == chain.InjectContext {
			calls[i].Result = chain.Result{}
		}
		calls[i].Result.UserMessage, calls[i].Result.SuppressOutput = "", false
	}
	return calls
}
