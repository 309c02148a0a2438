package router

import (
	"context"
	"time"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/session"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// execute is an event's way through the coordinator: the chain decides, and what
// it decided is made to happen.
func (r *Router) execute(ctx context.Context, req *natsx.Request) (err error) {
	a, err := r.admit("execute", req, r.ChainTimeout)
	if err != nil {
		return err
	}
	joined := false
	defer func() {
		if !joined || err != nil { // nothing ran for what only waits
			r.tell("execute", a, err)
		}
	}()
	defer r.release(a)
	q, err := r.asking(a)
	if err != nil {
		return err
	}
	if joined, err = r.join(ctx, req, q); joined || err != nil {
		return err
	}
	if err := r.begin(ctx, a); err != nil {
		return err
	}
	out, err := r.decide(ctx, a)
	if err != nil {
		return err
	}
	v, err := r.coordinate(ctx, a, out)
	if err != nil {
		return err
	}
	if err := r.end(ctx, a); err != nil {
		return err
	}
	header := r.replyHeader(a, out)
	if v.Action == verdict.Pending {
		v, err = r.ask(ctx, req, q, header, out, v) // which may leave the answer for later
		if err != nil {
			return err
		}
	}
	record := r.resultBody(a, out, v.Approval)
	if v.Action != verdict.Pending {
		body := v.Append(make([]byte, 0, len(v.Data)+256))
		if err := r.executed(a, out, v).keep(ctx); err != nil {
			return err
		}
		r.release(a)
		err = req.Reply(header, body)
	}
	a.concluded(v)
	r.tellResult(a, out, record)
	return err
}

// concluded notes the verdict of an event for telemetry.
func (a *arrival) concluded(v verdict.Verdict) {
	a.answered, a.action, a.injected, a.dropped = time.Now(), string(v.Action), v.Injected, v.Dropped
	if v.Approval != nil {
		a.story.asked = v.Approval.ID
	}
}

// coordinate makes a verdict of what the chain decided, and counts what it
// injects against the budget of the session's turn.
func (r *Router) coordinate(ctx context.Context, a *arrival, out chain.Outcome) (v verdict.Verdict, err error) {
	now := time.Now()
	if !verdict.Injects(out) || a.Session == "" {
		return verdict.Compose(out, a.Event, r.Injection, r.states.Used(a.Session), now), nil
	}
	err = r.states.Update(ctx, a.Session, func(s *session.State) bool {
		v = verdict.Compose(out, a.Event, r.Injection.Lowered(s.Limits), s.Used, now)
		delivered := make([]session.Injection, len(v.Injected))
		for i, one := range v.Injected {
			delivered[i] = session.Injection{Event: a.Name, Hook: one.Hook, Bytes: one.Bytes, Tokens: one.Tokens, Time: events.Now()}
		}
		s.Spend(v.InjectedTokens, delivered...)
		return len(delivered) > 0
	})
	for _, w := range v.Warnings {
		r.Log.WarnContext(a.trace.Context(), "injection", "warning", w.Kind, "hook", w.Hook, "detail", w.Detail, "event", a.Name, "session", a.Session, "chain", a.chainID)
	}
	return v, err
}

// begin does what some events mean to their session before their own chain: they
// begin a turn, or lower its limits.
func (r *Router) begin(ctx context.Context, a *arrival) error {
	if a.Session == "" {
		return nil
	}
	switch {
	case session.Begins(a.Name):
		return r.states.Begin(ctx, a.Session, a.Name)
	case a.Name == events.SessionStart:
		if limits, given := mountedLimits(a.sent); given {
			return r.states.Limit(ctx, a.Session, limits)
		}
	}
	return nil
}

// end forgets a session that ended, after its chain.
func (r *Router) end(ctx context.Context, a *arrival) error {
	if a.Session == "" || a.Name != events.SessionEnd {
		return nil
	}
	return r.states.End(ctx, a.Session)
}

// mountedLimits reads the limits that the data of session:start asks for. What is
// no number there asks for nothing.
func mountedLimits(data []byte) (limits verdict.Limits, given bool) {
	var start struct {
		Plan struct {
			Session struct {
				Size   *float64 `json:"injection_size_limit"`
				Budget *float64 `json:"injection_budget_per_turn"`
			} `json:"session"`
		} `json:"mount_plan"`
	}
	if err := (events.Event{Name: events.SessionStart, Data: data}).Decode(&start); err != nil {
		return verdict.Limits{}, false
	}
	number := func(n *float64) int {
		if n == nil || *n < 1 || *n > 1<<31 {
			return 0
		}
		return int(*n)
	}
	limits = verdict.Limits{Size: number(start.Plan.Session.Size), Budget: number(start.Plan.Session.Budget)}
	return limits, limits != verdict.Limits{}
}
