package dispatch

import (
	"context"
	"time"

	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// Execute runs an event's hooks and carries out what they decided: it composes the verdict,
// charges injections to the turn's budget and asks a person if a hook wants that. The answer may
// have to wait for the person; see [Answer.Pending].
func (d *Dispatcher) Execute(ctx context.Context, req Request) (*Answer, error) {
	return d.handle(ctx, verbExecute, req, func(ev *event) (*Answer, error) {
		if ev.frozen == nil {
			if answer, err := d.rejoin(ctx, ev); answer != nil || err != nil {
				return answer, err
			}
		}
		out, err := d.decide(ctx, ev)
		if err != nil {
			return nil, err
		}
		v, err := d.coordinate(ctx, ev, out)
		if err != nil {
			return nil, err
		}
		v, asked, err := d.ask(ctx, ev, out, v)
		if err != nil {
			return nil, err
		}
		if err := d.endSession(ctx, ev); err != nil {
			return nil, err
		}
		if asked == nil {
			if err := d.record(ctx, ev, d.executed(ev, out, v)); err != nil {
				return nil, err
			}
			if out, err = d.leave(ev, out); err != nil {
				return nil, err
			}
			if ev.frozen != nil {
				v = denied(v, ev.frozen.Denial())
			}
		}
		answer := ev.answer(out, nil)
		if asked == nil {
			answer.Body = d.ofVerdict(v, ev.chainID).Append(make([]byte, 0, len(v.Data)+256))
		} else {
			answer.pending = d.pending(ev, asked)
			answer.EventID = asked.EventID // ev.id() would keep the event's message in memory
		}
		ev.concluded(v)
		answer.sent = d.finish(ev, out, approvalID(v))
		return answer, nil
	})
}

// coordinate composes the verdict of a chain and charges its injections to the budget of the
// session's turn.
func (d *Dispatcher) coordinate(ctx context.Context, ev *event, out chain.Outcome) (verdict.Verdict, error) {
	now := time.Now()
	compose := func(limits verdict.Limits, used int) verdict.Verdict {
		return verdict.Compose(ev.withLate(out), ev.request.Event, limits, used, now)
	}
	taker := ev.takesLate(out)
	if !verdict.Injects(out) && taker == "" || ev.session() == "" {
		return compose(d.opts.Injection, d.sessions.Used(ev.owned)), nil
	}
	v, err := d.sessions.Spend(ctx, ev.owned, ev.name(), taker, func(lowered verdict.Limits, used int, late []chain.ContextInjection) verdict.Verdict {
		ev.late = late
		return compose(d.opts.Injection.Lowered(lowered), used)
	})
	for _, w := range v.Warnings {
		d.log.WarnContext(ev.trace.Context(), "injection changed or dropped", "kind", w.Kind, "hook", w.Hook, "detail", w.Detail,
			"event", ev.name(), "session_id", ev.session(), "chain_id", ev.chainID)
	}
	return v, err
}

// concluded notes the verdict for the observer.
func (ev *event) concluded(v verdict.Verdict) {
	ev.observed.Action, ev.observed.Injected, ev.observed.Dropped = string(v.Action), v.Injected, v.Dropped
	ev.observed.Approval = approvalID(v)
}

func approvalID(v verdict.Verdict) string {
	if v.Approval == nil {
		return ""
	}
	return v.Approval.ID
}
