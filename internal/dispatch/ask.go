package dispatch

import (
	"cmp"
	"context"
	"maps"
	"slices"
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

// rejoin answers a repeated event from its approval request, if it has one. It refuses an event
// whose request was about other data.
func (d *Dispatcher) rejoin(ctx context.Context, ev *event) (*Answer, error) {
	if !ev.request.Retry && d.approvals.Empty() {
		return nil, nil
	}
	id, digest := ev.approvalID(), func() string { return approval.Digest(ev.sent()) }
	if err := d.approvals.CheckData(id, ev.id(), digest); err != nil || !ev.request.Retry {
		return nil, err
	}
	last, s, err := d.requestOf(ctx, ev, digest())
	if err != nil {
		return nil, err
	}
	if s == nil {
		if last != id { // its session got labels, maybe since the event was admitted
			var now []string
			if now, err = d.labels.Labels(labeled(ev.request)); err == nil {
				ev.request.Event = ev.request.Event.WithLabels(now...)
			}
		}
		return nil, err
	}
	return d.join(ctx, ev, s)
}

// join answers an event from its approval request.
func (d *Dispatcher) join(ctx context.Context, ev *event, s *held.Event) (*Answer, error) {
	if err := d.replay(ctx, ev, s); err != nil {
		return nil, err
	}
	if err := d.decideByRule(ctx, ev, s, ev.request.Event.Labels()); err != nil {
		return nil, err
	}
	return &Answer{EventID: s.EventID, ChainID: s.ChainID, Called: s.Called, pending: d.pending(ev, s)}, nil
}

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
	if s.Needs != nil {
		if why := d.opts.Approvers.Impossible(s.Needs, s.Emitter); why != "" && !ruled {
			d.log.WarnContext(ev.trace.Context(), "approval impossible; denied", "hook", s.HookID, "reason", why, "event", ev.name(), "session_id", ev.session())
			return denied(v, "Nobody can approve this: "+why), nil, nil
		}
	} else if !ruled || rule.Decided(time.Now()).Granted { // no grant overrides a rule that denies
		if v, ok, err := d.granted(ctx, s, v); ok || err != nil {
			return v, nil, err
		}
	}
	if err := approval.Check(s.Prompt, s.Options); err != nil {
		d.log.WarnContext(ev.trace.Context(), "approval request invalid; denied", "hook", s.HookID, "error", err, "event", ev.name(), "session_id", ev.session())
		return denied(v, approval.Reason(s.Request, approval.Decision{Error: err.Error()})), nil, nil
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

func approvalOf(s *held.Event) *verdict.Approval {
	return &verdict.Approval{
		ID: s.ID, Hook: s.Hook, Prompt: s.Prompt, Options: s.Options, Expires: s.Expires.String(), DataSHA256: s.DataSHA256,
	}
}

func denied(v verdict.Verdict, reason string) verdict.Verdict {
	v.Action, v.Data, v.Reason, v.Approval = verdict.Deny, nil, reason, nil
	return v
}

// approvalRequest builds the approval request for an event, ready to be stored.
func (d *Dispatcher) approvalRequest(ev *event, out chain.Outcome, v verdict.Verdict) (*held.Event, error) {
	changes, err := approval.Changes(ev.sent(), v.Data)
	if err != nil {
		return nil, wire.Errorf(wire.Internal, "show what hooks changed: %v", err)
	}
	object, err := events.ParseObject(v.Data)
	if err != nil {
		return nil, wire.Errorf(wire.Internal, "read the data to ask about: %v", err)
	}
	asker, adds := ev.askerOf(out), labelsOf(out.Calls)
	unlabel := events.NewLabels(slices.Collect(maps.Keys(adds)), asker.Result.Unlabel) // labels that the event adds stay
	now := approval.At(d.approvals.Now())
	s := &held.Event{Sent: approval.Digest(ev.sent()), Arrived: ev.admitted, Trace: ev.traceparent(), Verdict: v, Called: called(out)}
	s.Request = approval.Request{
		ID: ev.approvalID(), Session: ev.session(), Event: ev.name(), Hook: asker.Entry.Title(),
		Prompt: unlabeling(promptOf(asker), unlabel), Options: offered(asker.Result),
		Default: string(cmp.Or(asker.Result.ApprovalDefault, chain.Deny)),
		Created: now, Expires: approval.At(now.Add(approval.Timeout(asker.Result.ApprovalTimeout))),
		DataSHA256: approval.Digest(v.Data),
	}
	if needs := d.needs(ev, out); needs != nil {
		requireApprovers(&s.Request, needs)
	}
	s.EventID, s.ChainID, s.HookID, s.Agent, s.Reason = ev.id(), ev.chainID, asker.Entry.ID, ev.request.Event.Source, asker.Result.Reason
	s.Emitter, s.Labels, s.Unlabel, s.AddedLabels = ev.request.Emitter, events.UnionLabels(ev.request.Event.Labels(), out.Labels), unlabel, adds
	s.ToolName, _ = object.GetString("tool_name")
	s.Content, s.Root = ev.grantContent(asker, object), cmp.Or(ev.request.Event.Extensions[events.AttrRoot], s.Session)
	s.Questions, s.Data, s.Changes = ev.questions(), v.Data, changes
	s.Verdict.Data = nil // it is in s.Data
	return s, nil
}

// askerOf returns the call whose question the chain kept: that of the pinned guards, or the
// first.
func (ev *event) askerOf(out chain.Outcome) chain.Call {
	if ev.asker != nil {
		return *ev.asker
	}
	for _, call := range out.Calls {
		if call.Result.Action == chain.AskUser {
			return call
		}
	}
	return chain.Call{Entry: &chain.Entry{}}
}
