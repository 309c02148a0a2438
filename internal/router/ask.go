package router

import (
	"cmp"
	"context"
	"strconv"
	"time"

	"github.com/nats-io/nuid"

	"github.com/hookrouter/hookrouter/internal/approvals"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/policy/redact"
	"github.com/hookrouter/hookrouter/internal/session"
	"github.com/hookrouter/hookrouter/internal/telemetry"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// How long the reply to an execute waits for a person.
const (
	defaultWait = 60 * time.Second
	longestWait = 90 * time.Second

	// longestReply is from an event's coming to its reply: replies across accounts
	// vanish after two minutes.
	longestReply = 110 * time.Second
)

// asking is an event that may have, or get, a question.
type asking struct {
	*arrival
	id    string // of the question
	wait  time.Duration
	retry bool
}

// asking reads what a request says about waiting, and refuses an event that a
// person was asked about with other data.
func (r *Router) asking(a *arrival) (asking, error) {
	q := asking{arrival: a, wait: defaultWait, retry: a.asked.Retry == "1"}
	if text := a.asked.Wait; text != "" {
		ms, err := strconv.ParseInt(text, 10, 64)
		if err != nil || ms < 0 {
			return q, wire.Errorf(wire.Malformed, "%s must be a whole number of milliseconds", wire.HeaderWait)
		}
		q.wait = time.Duration(min(ms, int64(longestWait/time.Millisecond))) * time.Millisecond
	}
	if !q.retry && r.desk.Empty() {
		return q, nil
	}
	q.id = approval.IDOf(a.emitter, a.Session, a.Name, a.ID)
	return q, r.desk.CheckData(q.id, a.ID, func() string { return approval.Digest(a.sent) })
}

// join answers an event that was sent again from its question, where it has one.
func (r *Router) join(ctx context.Context, req *natsx.Request, q asking) (joined bool, err error) {
	if !q.retry {
		return false, nil
	}
	s, err := r.desk.Find(ctx, q.id, q.ID, approval.Digest(q.sent))
	if s == nil || err != nil {
		return false, err
	}
	header := wire.Header{
		wire.HeaderEventID: {events.Escape(q.ID)}, wire.HeaderChainID: {s.ChainID}, wire.HeaderCount: {strconv.Itoa(s.Called)},
		wire.HeaderAudit: r.auditMode,
	}
	if err := r.byRule(ctx, s); err != nil {
		return false, err
	}
	r.release(q.arrival)
	r.await(req, q, header, s)
	return true, nil
}

// ask puts the question of a chain to a person: what comes back is a verdict where
// there is one at once, else one that is pending, and the request is answered
// later.
func (r *Router) ask(ctx context.Context, req *natsx.Request, q asking, header wire.Header, out chain.Outcome, v verdict.Verdict) (verdict.Verdict, error) {
	if r.NoApprovals {
		return denied(v, "No approval system available"), nil
	}
	asker := asker(out)
	s, err := r.question(q, asker, out, v)
	if err != nil {
		return v, err
	}
	open, err := r.desk.Find(ctx, s.ID, q.ID, s.Sent)
	if err != nil {
		return v, err
	}
	if open != nil {
		return r.rejoin(ctx, req, q, header, out, v, open)
	}
	rule, ruled := r.Rules.Decide(s.Hook, s.ToolName, s.Prompt)
	if !ruled || rule.Decided(time.Now()).Granted { // no grant is above a rule that denies
		grant, granted, err := r.remembered(ctx, s)
		if err != nil {
			return v, err
		}
		if granted {
			v.Action, v.Approval = verdict.Continue, approvalOf(s)
			r.metrics.Decided(telemetry.ByGrant, true)
			v.Approval.ID, v.Approval.Cached, v.Approval.Option, v.Approval.DecidedBy = grant.Approval, true, "Allow always", grant.By
			return v, nil
		}
	}
	if err := approval.Check(s.Prompt, s.Options); err != nil {
		r.Log.WarnContext(q.trace.Context(), "a question can't be put to a person: denied", "hook", asker.Entry.ID, "error", err, "event", q.Name, "session", q.Session)
		return denied(v, approval.Reason(s.Request, approval.Decision{Error: err.Error()})), nil
	}
	records := r.questioned(q.arrival, out, v, s, true)
	if err := records.keep(ctx); err != nil { // before anyone is asked
		return v, err
	}
	s, asked, err := r.desk.Ask(ctx, s)
	if err != nil {
		records.refused()
		return v, err
	}
	if asked && !ruled {
		r.announceQuestion(s)
	}
	return r.pends(ctx, req, q, header, v, s)
}

// rejoin has an event that was sent anew wait for the question that it has already.
func (r *Router) rejoin(ctx context.Context, req *natsx.Request, q asking, header wire.Header, out chain.Outcome, v verdict.Verdict, s *approvals.Stored) (verdict.Verdict, error) {
	if err := r.questioned(q.arrival, out, v, s, false).keep(ctx); err != nil {
		return v, err
	}
	return r.pends(ctx, req, q, header, v, s)
}

// pends has a request wait for the answer to its question.
func (r *Router) pends(ctx context.Context, req *natsx.Request, q asking, header wire.Header, v verdict.Verdict, s *approvals.Stored) (verdict.Verdict, error) {
	v.Approval = approvalOf(s)
	if err := r.byRule(ctx, s); err != nil {
		return v, err
	}
	r.release(q.arrival)
	r.await(req, q, header, s)
	return v, nil
}

// byRule decides a question by a rule, where there is one for it and nothing was
// first.
func (r *Router) byRule(ctx context.Context, s *approvals.Stored) error {
	rule, ruled := r.Rules.Decide(s.Hook, s.ToolName, s.Prompt)
	if !ruled {
		return nil
	}
	_, err := r.desk.Decide(ctx, s, rule.Decided(time.Now()), nuid.Next())
	if code := wire.CodeOf(err); code == wire.Conflict || code == wire.Gone {
		return nil
	}
	return err
}

// await answers a request as soon as its question is decided, or with what is
// pending when it has waited long enough. It takes no goroutine, and while it waits
// it holds neither the request's data nor its headers.
func (r *Router) await(req *natsx.Request, q asking, header wire.Header, s *approvals.Stored) {
	ctx := q.trace.Context()
	later := req.WithoutData()
	until := time.Now().Add(q.wait)
	if last := q.came.Add(longestReply); last.Before(until) {
		until = last
	}
	r.desk.Await(s, until, func(s *approvals.Stored, d *approval.Decision) {
		v := decided(s, d)
		if err := later.Reply(header, v.Append(nil)); err != nil {
			r.Log.WarnContext(ctx, "could not answer an agent that waited for a person", "approval", s.ID, "error", err)
		}
	})
}

// decided is the verdict on a question: pending where there is no decision.
func decided(s *approvals.Stored, d *approval.Decision) verdict.Verdict {
	v := s.Verdict
	v.Approval = approvalOf(s)
	if d == nil {
		return v
	}
	v.Approval.Option, v.Approval.DecidedBy, v.Approval.TimedOut = d.Option, d.DecidedBy, d.TimedOut
	if d.Granted {
		v.Action, v.Data = verdict.Continue, s.Data
	} else {
		v.Action, v.Reason = verdict.Deny, approval.Reason(s.Request, *d)
	}
	return v
}

func approvalOf(s *approvals.Stored) *verdict.Approval {
	return &verdict.Approval{
		ID: s.ID, Hook: s.Hook, Prompt: s.Prompt, Options: s.Options, Expires: s.Expires.String(), DataSHA256: s.DataSHA256,
	}
}

// asker is the hop whose question the chain kept: the first.
func asker(out chain.Outcome) chain.Call {
	for _, hop := range out.Calls {
		if hop.Result.Action == chain.AskUser {
			return hop
		}
	}
	return chain.Call{Entry: &chain.Entry{}}
}

func denied(v verdict.Verdict, reason string) verdict.Verdict {
	v.Action, v.Data, v.Reason, v.Approval = verdict.Deny, nil, reason, nil
	return v
}

// question is what is asked about an event, ready to be stored.
func (r *Router) question(q asking, hop chain.Call, out chain.Outcome, v verdict.Verdict) (*approvals.Stored, error) {
	changes, err := approval.Changes(q.sent, v.Data)
	if err != nil {
		return nil, wire.Errorf(wire.Internal, "what the hooks changed can't be shown: %v", err)
	}
	object, err := events.ParseObject(v.Data)
	if err != nil {
		return nil, wire.Errorf(wire.Internal, "the data to ask about can't be read: %v", err)
	}
	now := approval.At(time.Now())
	s := &approvals.Stored{Sent: approval.Digest(q.sent), Arrived: q.came, Trace: q.traceparent(), Verdict: v, Called: called(out)}
	s.Request = approval.Request{
		ID: cmp.Or(q.id, approval.IDOf(q.emitter, q.Session, q.Name, q.ID)), Session: q.Session, Event: q.Name, Hook: hop.Entry.Title(),
		Prompt: cmp.Or(hop.Result.ApprovalPrompt, approval.DefaultPrompt), Options: hop.Result.ApprovalOptions,
		Default: string(cmp.Or(hop.Result.ApprovalDefault, chain.Deny)),
		Created: now, Expires: approval.At(now.Add(approval.Timeout(hop.Result.ApprovalTimeout))),
		DataSHA256: approval.Digest(v.Data),
	}
	if len(s.Options) == 0 {
		s.Options = approval.DefaultOptions()
	}
	s.EventID, s.ChainID, s.HookID, s.Agent, s.Reason = q.ID, q.chainID, hop.Entry.ID, q.Source, hop.Result.Reason
	s.ToolName, _ = object.GetString("tool_name")
	s.Data, s.Changes = v.Data, changes
	s.Verdict.Data = nil // it stands in the record
	return s, nil
}

// remembered looks for an "Allow always" of the session.
func (r *Router) remembered(ctx context.Context, s *approvals.Stored) (session.Grant, bool, error) {
	if s.Session == "" {
		return session.Grant{}, false, nil
	}
	state, err := r.states.Get(ctx, s.Session)
	if err != nil {
		return session.Grant{}, false, err
	}
	grant, granted := state.Remembered(s.Hook, s.Prompt)
	return grant, granted, nil
}

// remember keeps an "Allow always" in its session.
func (r *Router) remember(ctx context.Context, s *approvals.Stored, d approval.Decision) error {
	return r.states.Remember(ctx, s.Request, s.Arrived, d)
}

// mask is how questions are shown where observers do not get all data: secrets
// are masked in what hooks say about it, too.
func (r *Router) mask() func(*approval.Record) {
	if r.PublishData == PublishFull {
		return nil
	}
	return func(record *approval.Record) {
		record.Prompt, _ = redact.Text(record.Prompt)
		record.Reason, _ = redact.Text(record.Reason)
		if r.PublishData == PublishNone {
			record.Data, record.Changes = nil, nil
			return
		}
		if record.Data != nil {
			record.Data, _ = redact.Object(record.Data)
		}
		if record.Changes != nil { // which is no JSON object of nothing
			record.Changes, _ = redact.Object(record.Changes)
		}
	}
}
