package dispatch

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hookrouter/hookrouter/pkg/chain"
)

// Guards are the hooks that an operator pinned. They may change between two events.
type Guards interface {
	// InForce returns the pinned hooks of an event, or an error with code 503 if one is not
	// registered as it was pinned.
	InForce(event string, t *chain.Table) ([]*chain.Entry, error)
}

// guard prefers the questions of pinned guards to those of other hooks. If later hooks changed
// the data, the pinned guards judge it again; what they inject the second time is dropped. Labels
// that they add then are not in Outcome.Labels, so that [Dispatcher.run] runs the chain again with
// them. The error is that of [chain.Run].
func (d *Dispatcher) guard(ctx context.Context, ev *event, out chain.Outcome, caller chain.Caller, until time.Time) (chain.Outcome, error) {
	if len(ev.pinned) == 0 || out.DeniedBy != "" {
		return out, nil
	}
	out = ev.preferGuard(out, out.Data)
	if out.DeniedBy != "" {
		return out, nil
	}
	final := out.Result.Data
	var changed []*chain.Entry
	for _, entry := range ev.pinned {
		if !bytes.Equal(ev.seen(entry, out), final) {
			changed = append(changed, entry)
		}
	}
	if len(changed) == 0 {
		return out, nil
	}
	in := ev.request.Event.WithLabels(out.Labels...)
	in.Data = final
	again, err := chain.Run(ctx, changed, in, chain.Plan{Call: caller, Timed: true, Until: until})
	for _, call := range again.Calls {
		if call.Result.Data != nil && call.Result.Action != chain.Deny && !bytes.Equal(call.Result.Data, final) {
			again = denyOut(again, call.Entry, "other hooks changed the data after it, and it may only judge their changes, not change the data again")
			break
		}
	}
	out.Calls = append(out.Calls, withoutInjections(again.Calls)...)
	out.InVain = append(out.InVain, again.InVain...) // not its labels: no hook of the chain has seen them
	if err != nil {
		return out, err
	}
	if again.DeniedBy != "" {
		out.Result, out.DeniedBy = again.Result, again.DeniedBy
		return out, nil
	}
	return ev.preferGuard(out, final), nil
}

// seen returns the data that a hook's decision is about: the data as the hook changed it, or else
// as it was given.
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

// preferGuard gives the questions of pinned guards precedence over those of other hooks. It merges
// those of several guards into one; an emit, which can't ask, is denied then.
func (ev *event) preferGuard(out chain.Outcome, data []byte) chain.Outcome {
	var asking []chain.Call
	for _, call := range out.Calls {
		if call.Result.Action != chain.AskUser || !slices.Contains(ev.pinned, call.Entry) {
			continue
		}
		asking = slices.DeleteFunc(asking, func(c chain.Call) bool { return c.Entry == call.Entry }) // the last call is about the final data
		asking = append(asking, call)
	}
	if len(asking) == 0 {
		return out
	}
	ev.asker = &asking[0]
	if len(asking) > 1 {
		one, agreed := merged(asking)
		if !agreed || ev.observed.Verb == verbEmit {
			return denyOut(out, asking[0].Entry, "more than one pinned guard asks a person about this event")
		}
		ev.asker, ev.asking = &one, asking
	}
	out.Result = ev.asker.Result
	if out.Result.Data == nil {
		out.Result.Data = data
	}
	return out
}

func denyOut(out chain.Outcome, by *chain.Entry, why string) chain.Outcome {
	out.Result, out.DeniedBy = chain.Denial(fmt.Sprintf("%s: %s", by.Title(), why)), by.ID
	return out
}

// withoutInjections drops what the guards injected and showed in the first run. Labels stay.
func withoutInjections(calls []chain.Call) []chain.Call {
	for i := range calls {
		r := &calls[i].Result
		if r.Action == chain.InjectContext {
			*r = chain.Result{Labels: r.Labels, Rule: r.Rule, Policy: r.Policy}
		}
		if r.Action != chain.Deny {
			r.UserMessage, r.SuppressOutput = "", false
		}
	}
	return calls
}
