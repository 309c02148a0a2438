package dispatch

import (
	"context"
	"time"

	"github.com/hookrouter/hookrouter/internal/approvals/held"
	"github.com/hookrouter/hookrouter/internal/sessionkey"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// How long the reply to an execute waits for a person.
const (
	DefaultWait = 60 * time.Second // if the request does not say
	MaxWait     = 90 * time.Second

	// maxReply bounds the time from an event's admission to its reply: NATS drops replies across
	// accounts after two minutes.
	maxReply = 110 * time.Second
)

// approvalID names the first approval request of an event. Every replica computes the same id.
func (ev *event) approvalID() string {
	return approval.IDOf(ev.request.Emitter, ev.session(), ev.name(), ev.id())
}

// ask turns a chain that ends with a question into a verdict, and returns the request that waits
// for a person, nil for none. It decides at once if nobody can be asked or an earlier "Allow
// always" applies; else it opens an approval request. The records of the chain are written before
// anybody is asked. A session:end ends its session after the grants were checked, and before
// anybody is asked, so that the answer is not remembered.
func (d *Dispatcher) ask(ctx context.Context, ev *event, out chain.Outcome, v verdict.Verdict) (verdict.Verdict, *held.Event, error) {
	if v.Action != verdict.Pending {
		return v, nil, nil
	}
	if d.opts.NoApprovals {
		return denied(v, "No approval system available"), nil, nil
	}
	s, err := d.approvalRequest(ev, out, v)
	if err != nil {
		return v, nil, err
	}
	seen := s.Labels
	id, open, err := d.requestOf(ctx, ev, s.Sent)
	if err != nil {
		return v, nil, err
	}
	if open != nil { // a repeated event waits for the request it has
		ev.ended = true // before the request was stored: another end would make the answer outdated
		if err := d.record(ctx, ev, d.requested(ev, out, v, open, true)); err != nil {
			return v, nil, err
		}
		if err := d.replay(ctx, ev, open); err != nil {
			return v, nil, err
		}
		return d.wait(ctx, ev, v, open, seen)
	}
	s.ID = id
	facts := ev.facts(s, seen)
	rule, ruled := d.opts.Rules.Match(facts)
	if shadow, found := d.opts.Rules.Shadow(facts); found {
		s.ShadowRule, s.ShadowDecision = shadow.Name, shadow.Decision
	}
	denies := ruled && !rule.Decided(time.Now()).Granted
	if v, final, err := d.withoutAsking(ctx, ev, s, v, ruled, denies); final || err != nil {
		return v, nil, err
	}
	if err := d.endSession(ctx, ev); err != nil {
		return v, nil, err
	}
	if err := d.record(ctx, ev, d.requested(ev, out, v, s, false)); err != nil {
		return v, nil, err
	}
	s, asked, err := d.store(ctx, ev, s)
	if err != nil {
		d.noteRefused(ev, unavailable, "")
		return v, nil, err
	}
	if asked && !ruled {
		d.reportAsked(s)
	}
	return d.wait(ctx, ev, v, s, seen)
}

// withoutAsking returns the final verdict if an earlier "Allow always" applies, or nobody can be
// asked. ruled reports whether a rule decides the request, and denies whether it denies: no grant
// overrides that.
func (d *Dispatcher) withoutAsking(ctx context.Context, ev *event, s *held.Event, v verdict.Verdict, ruled, denies bool) (_ verdict.Verdict, final bool, err error) {
	log := d.log.With("hook", s.HookID, "event", ev.name(), "session_id", ev.session())
	if s.Needs != nil {
		if why := d.opts.Approvers.Impossible(s.Needs, s.Emitter); why != "" && !ruled {
			log.WarnContext(ev.trace.Context(), "approval impossible; denied", "reason", why)
			return denied(v, "Nobody can approve this: "+why), true, nil
		}
	} else if !denies {
		if v, granted, err := d.granted(ctx, s, v); granted || err != nil {
			return v, granted, err
		}
	}
	if err := approval.Check(s.Prompt, s.Options); err != nil {
		log.WarnContext(ev.trace.Context(), "approval request invalid; denied", "error", err)
		return denied(v, approval.Reason(s.Request, approval.Decision{Error: err.Error()})), true, nil
	}
	return v, false, nil
}

// store stores an approval request with the state that its session has now. asked is false if the
// event has a request already.
func (d *Dispatcher) store(ctx context.Context, ev *event, s *held.Event) (stored *held.Event, asked bool, err error) {
	if s.Session != "" {
		if s.Epoch, err = d.sessions.Epoch(ctx, sessionkey.Of(s.Emitter, s.Session)); err != nil {
			return nil, false, err
		}
	}
	if len(s.Unlabel) > 0 {
		if s.AskedAt, err = d.labels.AskToRemove(ctx, labeled(ev.request), s.Unlabel); err != nil {
			return nil, false, err
		}
	}
	return d.approvals.Ask(ctx, s)
}

// granted answers with the session's "Allow always", if there is one.
func (d *Dispatcher) granted(ctx context.Context, s *held.Event, v verdict.Verdict) (verdict.Verdict, bool, error) {
	if s.Session == "" {
		return v, false, nil
	}
	id, by, err := d.sessions.Granted(ctx, s)
	if id == "" || err != nil {
		return v, false, err
	}
	d.observer.Granted()
	v.Action, v.Approval = verdict.Continue, approvalOf(s)
	v.Approval.ID, v.Approval.Cached, v.Approval.Option, v.Approval.DecidedBy = id, true, "Allow always", by
	return v, true, nil
}

// wait attaches the event to its approval request, which a rule may decide at once. seen are the
// labels of its session.
func (d *Dispatcher) wait(ctx context.Context, ev *event, v verdict.Verdict, s *held.Event, seen []string) (verdict.Verdict, *held.Event, error) {
	v.Approval = approvalOf(s)
	return v, s, d.decideByRule(ctx, ev, s, seen)
}

// decideByRule decides a request by the first matching rule, unless somebody decided before.
func (d *Dispatcher) decideByRule(ctx context.Context, ev *event, s *held.Event, seen []string) error {
	rule, ruled := d.opts.Rules.Match(ev.facts(s, seen))
	if !ruled {
		return nil
	}
	_, err := d.approvals.Decide(ctx, s, rule.Decided(d.approvals.Now()), events.NewID())
	if code := wire.CodeOf(err); code == wire.Conflict || code == wire.Gone {
		return nil
	}
	return err
}

// pending returns a function that waits for a decision on a request and then replies. While it
// waits, it keeps neither the request's data nor a goroutine alive.
func (d *Dispatcher) pending(ev *event, s *held.Event) (await func(reply func(body []byte))) {
	until := time.Now().Add(ev.request.Wait)
	if last := ev.admitted.Add(maxReply); last.Before(until) {
		until = last
	}
	return func(reply func(body []byte)) {
		d.approvals.Await(s, until, func(s *held.Event, decision *approval.Decision) {
			reply(d.ofVerdict(d.leaveHeld(s, decision), s.ChainID).Append(nil))
		})
	}
}

// decided is the verdict on an approval request; pending while nobody has decided.
func decided(s *held.Event, decision *approval.Decision) verdict.Verdict {
	v := s.Verdict
	v.Approval = approvalOf(s)
	if decision == nil {
		return v
	}
	v.Approval.Option, v.Approval.DecidedBy, v.Approval.TimedOut = decision.Option, decision.DecidedBy, decision.TimedOut
	if decision.Granted {
		v.Action, v.Data = verdict.Continue, s.Data
	} else {
		v.Action, v.Reason = verdict.Deny, approval.Reason(s.Request, *decision)
	}
	return v
}

func denied(v verdict.Verdict, reason string) verdict.Verdict {
	v.Action, v.Data, v.Reason, v.Approval = verdict.Deny, nil, reason, nil
	return v
}
