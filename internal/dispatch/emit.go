package dispatch

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// The verbs of requests, as metrics and spans name them.
const (
	verbEmit          = "emit"
	verbExecute       = "execute"
	verbCollect       = "collect"
	verbContributions = "contributions"
)

// Emit runs an event's hooks and returns what they decided.
func (d *Dispatcher) Emit(ctx context.Context, req Request) (*Answer, error) {
	return d.handle(ctx, verbEmit, req, func(ev *event) (*Answer, error) {
		out, err := d.decide(ctx, ev)
		if err != nil {
			return nil, err
		}
		if err := d.endSession(ctx, ev); err != nil {
			return nil, err
		}
		if err := d.record(ctx, ev, d.emitted(ev, out)); err != nil {
			return nil, err
		}
		if out, err = d.leave(ev, out); err != nil {
			return nil, err
		}
		answer := ev.answer(out, d.ofResult(out.Result, ev.chainID).Append(make([]byte, 0, len(out.Result.Data)+128)))
		answer.sent = d.finish(ev, out, "")
		return answer, nil
	})
}

// handle admits an event, runs do and releases the event.
func (d *Dispatcher) handle(ctx context.Context, verb string, req Request, do func(*event) (*Answer, error)) (*Answer, error) {
	ev, err := d.admit(ctx, verb, req, d.opts.ChainTimeout)
	if err != nil {
		return nil, err
	}
	defer d.release(ev)
	answer, err := do(ev)
	if err != nil {
		d.observe(ev, err)
	}
	return answer, err
}

// decide begins a turn if the event does, announces the event and runs its hooks. A frozen event
// is denied without calling them.
func (d *Dispatcher) decide(ctx context.Context, ev *event) (chain.Outcome, error) {
	if ev.frozen != nil {
		return chain.Outcome{Result: chain.Denial(ev.frozen.Denial()), Data: ev.data}, nil
	}
	if err := d.beginTurn(ctx, ev); err != nil {
		return chain.Outcome{}, err
	}
	d.announce(ev)
	return d.run(ctx, ev)
}

// runOnce runs the hooks once.
func (d *Dispatcher) runOnce(ctx context.Context, ev *event, until time.Time) (chain.Outcome, error) {
	ev.asker, ev.asking = nil, nil // from the previous run
	caller := d.caller(ev)
	out, err := chain.Run(ctx, ev.hooks, ev.forHooks(), chain.Plan{Call: caller, Timed: true, Shadow: d.shadow(ctx, ev), Until: until})
	if err == nil {
		out, err = d.guard(ctx, ev, out, caller, until)
	}
	d.counters.failed(out.Calls)
	if errors.Is(err, chain.ErrDeadline) {
		d.note(d.undecided(ev, out))
		return out, wire.Errorf(wire.Deadline, "the %s for this chain ran out before every hook answered (%d of %d did): nothing was decided",
			ev.timeout, len(out.Calls), len(ev.hooks))
	}
	return out, err
}

// beginTurn applies the effect of some events on their session before their chain runs: they begin
// a turn or lower its limits.
func (d *Dispatcher) beginTurn(ctx context.Context, ev *event) error {
	switch {
	case ev.session() == "":
		return nil
	case ev.name() == events.PromptSubmit, ev.name() == events.ExecutionStart:
		waits, err := d.sessions.Begin(ctx, ev.owned, ev.name())
		ev.lateWaits = waits
		return err
	case ev.name() == events.SessionStart:
		if limits := mountedLimits(ev.sent()); limits != (verdict.Limits{}) {
			return d.sessions.Limit(ctx, ev.owned, limits)
		}
	}
	return nil
}

// endSession drops the state of a session that ended, after its chain. It does so once per event.
func (d *Dispatcher) endSession(ctx context.Context, ev *event) error {
	if ev.session() == "" || ev.name() != events.SessionEnd || ev.ended {
		return nil
	}
	err := d.sessions.End(ctx, ev.owned)
	ev.ended = err == nil
	return err
}

// mountedLimits reads the limits in the mount plan of session:start. It ignores values that are
// not positive numbers.
func mountedLimits(data []byte) verdict.Limits {
	var start struct {
		Plan struct {
			Session struct {
				Size   any `json:"injection_size_limit"`
				Budget any `json:"injection_budget_per_turn"`
			} `json:"session"`
		} `json:"mount_plan"`
	}
	if err := (events.Event{Name: events.SessionStart, Data: json.RawMessage(data)}).Decode(&start); err != nil {
		return verdict.Limits{}
	}
	number := func(v any) int {
		n, _ := v.(float64)
		if n < 1 || n > 1<<31 {
			return 0
		}
		return int(n)
	}
	return verdict.Limits{Size: number(start.Plan.Session.Size), Budget: number(start.Plan.Session.Budget)}
}
