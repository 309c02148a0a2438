package dispatch

import (
	"cmp"
	"context"
	"slices"

	"github.com/hookrouter/hookrouter/pkg/audit"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// Bounds of the async calls in flight: overall, and for each agent, or each session of an unproven
// agent, so that one agent can't crowd out others.
const (
	maxAsync         = 256
	maxAsyncPerAgent = 32
)

// callAsync calls a hook in mode async. The event is answered already, so the hook can only
// inject into the next turn of its session.
func (d *Dispatcher) callAsync(ev *event, entry *chain.Entry, data []byte) {
	if !ev.wantedBy(entry, data) {
		return
	}
	owner := cmp.Or(ev.request.Emitter, ev.owned)
	if d.asyncSlots.take(owner) != nil {
		d.dropped(entry)
		return
	}
	started := d.asyncCalls.TryGo(func() error {
		defer d.asyncSlots.release(owner)
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ev.trace.Context()), entry.Timeout())
		defer cancel()
		in := ev.request.Event
		in.Data = data
		d.keepInjection(ctx, ev, d.callUnawaited(ctx, ev, entry, in))
		return nil
	})
	if !started {
		d.asyncSlots.release(owner)
		d.dropped(entry)
	}
}

// keepInjection records the answer of a hook in mode async and then keeps its injection.
func (d *Dispatcher) keepInjection(ctx context.Context, ev *event, call chain.Call) {
	text, _ := verdict.Clean(call.Result.ContextInjection)
	injects := call.Result.Action == chain.InjectContext && text != "" && ev.session() != ""
	records := d.late(ev, &call)
	if !injects {
		d.note(records)
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), d.opts.ChainTimeout)
	defer cancel()
	kept, why, err := false, verdict.Oversize, error(nil)
	if records != nil {
		err = d.journal.Record(ctx, records.text)
		records.free()
	}
	if err == nil && len(text) <= d.opts.Injection.Lowered(verdict.Limits{}).Size {
		kept, err = d.sessions.Keep(ctx, ev.owned, ev.admitted, chain.NewContextInjection(call, ev.name(), text))
		why = "ended"
	}
	if err != nil {
		why = "unavailable"
	}
	if !kept {
		d.note(d.lateDropped(ev, &call, text, why))
		d.log.WarnContext(ev.trace.Context(), "late injection dropped", "hook", call.Entry.ID, "event", ev.name(), "session_id", ev.session(), "chain_id", ev.chainID, "why", why, "error", d.masked(err))
	}
}

// late is the record of an async hook's answer.
func (d *Dispatcher) late(ev *event, call *chain.Call) *records {
	return d.records(ev, func(r *records) {
		detail := r.call(call)
		detail.Shadow, detail.Late = true, true
		r.add(kindOf(call.Failure), call.Entry.ID, answered(call), detail)
	})
}

// lateDropped is the record of an injection that no turn will deliver.
func (d *Dispatcher) lateDropped(ev *event, call *chain.Call, text, why string) *records {
	return d.records(ev, func(r *records) {
		r.add(audit.InjectionKind, call.Entry.ID, "dropped", audit.Injection{
			Role: string(cmp.Or(call.Result.ContextInjectionRole, chain.RoleSystem)), Ephemeral: call.Result.Ephemeral,
			Bytes: len(text), Dropped: why, Late: true, Text: r.view.TextOf(ev.session(), text),
		})
	})
}

// takesLate returns the event's id if its verdict delivers the late injections of the turn that
// it begins; else it is empty.
func (ev *event) takesLate(out chain.Outcome) string {
	if !ev.lateWaits || out.Result.Action == chain.Deny || out.Result.Action == chain.AskUser {
		return ""
	}
	return ev.id()
}

// withLate prepends the late injections to those of the outcome.
func (ev *event) withLate(out chain.Outcome) chain.Outcome {
	if len(ev.late) == 0 {
		return out
	}
	calls := make([]chain.Call, len(ev.late), len(ev.late)+len(out.Calls))
	for i, l := range ev.late {
		calls[i] = chain.Call{
			Entry: &chain.Entry{Registration: chain.Registration{ID: l.HookID, Name: l.HookName, Mode: chain.Async}},
			Result: chain.Result{
				Action: chain.InjectContext, ContextInjection: l.Content, ContextInjectionRole: l.Role,
				Ephemeral: l.Ephemeral, AppendToLastToolResult: l.AppendToLastToolResult,
			},
		}
	}
	out.Calls = slices.Concat(calls, out.Calls)
	out.Result.Action = chain.InjectContext
	return out
}
