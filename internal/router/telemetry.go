package router

import (
	"context"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hookrouter/hookrouter/internal/approvals"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/telemetry"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// watched is what a router tells telemetry with; without telemetry, nothing.
type watched struct {
	metrics *telemetry.Metrics
	tracer  *telemetry.Tracer

	questions atomic.Int64 // open ones, as of a moment ago
	oldest    atomic.Int64 // when the oldest of them was asked, in nanoseconds since 1970; 0 for none
}

// story is what is known of an event for telemetry, besides the arrival.
type story struct {
	trace    *telemetry.Trace // nil where tracing is off
	out      chain.Outcome
	action   string // of the answer; empty means the outcome's
	asked    string // the question's id
	injected []verdict.Injected
	dropped  []verdict.Injected
	answers  []telemetry.Answer
	audited  telemetry.Interval
	answered time.Time
}

// refusals counts what is refused on an endpoint.
func (r *Router) refusals(verb string) func(code int) {
	return func(code int) { r.metrics.Refused(verb, code) }
}

// follow says in which trace an event belongs, where tracing is on.
func (r *Router) follow(a *arrival, req *natsx.Request, data events.Object) {
	if r.tracer == nil {
		return
	}
	s := telemetry.Sender{
		Traceparent: a.asked.Traceparent, Tracestate: a.asked.Tracestate, Session: a.Session, ChainID: a.chainID,
	}
	for _, name := range [...]string{"prompt_id", "turn_id"} {
		if s.Turn == "" {
			s.Turn, _ = data.GetString(name)
		}
	}
	if s.Turn == "" {
		s.Turn = wire.Get(req.Header, wire.HeaderTurn)
	}
	a.trace = r.tracer.Begin(s)
}

// tell logs what happened to an event, and tells telemetry. The answer has left, or is
// a refusal.
func (r *Router) tell(verb string, a *arrival, err error) {
	r.log(a, err)
	if r.metrics == nil {
		return
	}
	c := r.chain(verb, a, err)
	r.metrics.Chain(a.trace.Context(), c)
	r.tracer.Chain(a.trace, c)
}

// tellGathered makes the spans of contributions, which are no agent's event: neither
// logged nor counted as one.
func (r *Router) tellGathered(a *arrival, channel string, err error) {
	if a.trace == nil {
		return
	}
	c := r.chain("contributions", a, err)
	c.Channel = channel
	r.tracer.Chain(a.trace, c)
}

// chain is what telemetry may know of an event.
func (r *Router) chain(verb string, a *arrival, err error) *telemetry.Chain {
	c := &telemetry.Chain{
		Verb: verb, Event: a.Name, Source: a.Source, Session: a.Session, EventID: a.ID, ChainID: a.chainID,
		Came: a.came, End: a.answered, Outcome: &a.out, Action: a.action, Approval: a.story.asked,
		Injected: a.injected, Dropped: a.dropped, Answers: a.answers,
		Audited: a.audited, AuditMode: string(r.Audit),
	}
	if c.End.IsZero() {
		c.End = time.Now()
	}
	if err != nil {
		c.Refused = wire.FromError(err).Code
	}
	return c
}

// aboutQuestion is what telemetry may know of a question.
func aboutQuestion(s *approvals.Stored, d *approval.Decision) telemetry.Approval {
	q := telemetry.Approval{
		ID: s.ID, ChainID: s.ChainID, Hook: s.HookID, Event: s.Event, Session: s.Session, Trace: s.Trace, Asked: s.Created.Time,
	}
	if d != nil {
		q.Decided, q.Granted, q.TimedOut, q.DecidedBy = d.Decided.Time, d.Granted, d.TimedOut, d.DecidedBy
	}
	return q
}

// tellDecision tells telemetry of a decision that was made here, by who ctx names. The
// context that is returned names the decision.
func (r *Router) tellDecision(ctx context.Context, s *approvals.Stored, d approval.Decision) context.Context {
	kind := telemetry.ByPerson
	switch {
	case d.TimedOut:
		kind = telemetry.ByTimeout
	case d.Error != "":
		kind = telemetry.ByError
	case strings.HasPrefix(d.DecidedBy, "rule "):
		kind = telemetry.ByRule
	}
	r.metrics.Decided(kind, d.Granted)
	return r.tracer.Decided(ctx, aboutQuestion(s, &d))
}

// tellShadow tells telemetry what a shadow hook answered.
func (r *Router) tellShadow(a *arrival, link *chain.Entry, when telemetry.Interval, result chain.Result, err error) {
	r.metrics.Shadow(link.ID, result.Action, err != nil)
	r.tracer.Shadow(a.trace, telemetry.Answer{Link: link, When: when, Failure: chain.FailureOf(err)}, result.Action)
}

// state is what a scrape sees. It waits for nothing.
func (r *Router) state() telemetry.State {
	counts, _ := r.registry.Counts().(map[string]int64)
	s := telemetry.State{
		Ready: r.Ready() == nil, InFlight: len(r.slots), MaxFlight: cap(r.slots), Hooks: counts["hooks"], Expired: counts["expired"],
		AuditMode: string(r.Audit), AuditWaiting: r.audit.Waiting(), AuditLag: r.audit.Lag(), Approvals: int(r.questions.Load()),
	}
	if asked := r.oldest.Load(); asked != 0 {
		s.OldestApproval = max(time.Since(time.Unix(0, asked)), 0)
	}
	return s
}

// How often the open questions are counted: after a change, and in any case.
const (
	countSoon  = time.Second
	countLater = 10 * time.Second
)

// countQuestions keeps the number of open questions, so that no scrape has to ask.
func (r *Router) countQuestions(ctx context.Context) {
	notices, stop := r.desk.Watch()
	defer stop()
	tick := time.NewTicker(countSoon)
	defer tick.Stop()
	changed, next := true, time.Now()
	for {
		select {
		case _, open := <-notices:
			if changed = true; !open {
				notices = nil
			}
			continue
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		now := time.Now()
		if now.Before(next) || !changed && now.Before(next.Add(countLater)) {
			continue
		}
		changed = false
		r.countOpen(ctx)
		next = time.Now().Add(100 * time.Since(now)) // many questions are counted less often
	}
}

func (r *Router) countOpen(ctx context.Context) {
	if r.desk.Empty() {
		r.questions.Store(0)
		r.oldest.Store(0)
		return
	}
	list, total, err := r.desk.Pending(ctx, approval.Filter{Limit: 1})
	if err != nil {
		return // the last number stays
	}
	var oldest int64
	if len(list) > 0 {
		oldest = list[0].Created.UnixNano()
	}
	r.questions.Store(int64(total))
	r.oldest.Store(oldest)
}
