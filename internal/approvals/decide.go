package approvals

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nuid"

	"github.com/hookrouter/hookrouter/internal/approvals/held"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/approval"
)

// Answer answers an approval request: it decides it, or counts as one of several approvals. who
// is the proven sender, or "". Of two concurrent approvals, the second sees the first.
func (s *Service) Answer(ctx context.Context, id string, a approval.Answer, who string) (approval.Decision, error) {
	now := s.Now()
	for record := true; ; record = false {
		decision, err := s.answer(ctx, id, a, who, now, record)
		if !errors.Is(err, natsx.ErrRevision) {
			return decision, err
		}
	}
}

// answer is one try of Answer. The error is [natsx.ErrRevision] if another answer was stored
// meanwhile. record is false if an earlier try recorded the answer.
func (s *Service) answer(ctx context.Context, id string, a approval.Answer, who string, now time.Time, record bool) (approval.Decision, error) {
	r, at, err := s.loadAt(ctx, id)
	if err != nil {
		return approval.Decision{}, err
	}
	if s.options.ProvenOnly && who == "" {
		return approval.Decision{}, wire.Errorf(wire.Forbidden, "the sender of this answer is not proven: answer in the console, or over NATS with an account of your own")
	}
	if already := s.knownDecision(r); already != nil {
		return approval.Decision{}, tooLate(*already)
	}
	if a.Pass {
		review, err := approval.Pass(r.Request, a, who, now)
		if err != nil {
			return approval.Decision{}, wire.FromError(err)
		}
		return approval.Decision{}, s.passOn(ctx, r, at, record, review)
	}
	decision, err := approval.Decide(r.Request, a, who, now)
	switch {
	case err != nil:
		return approval.Decision{}, wire.FromError(err)
	case decision.Granted && s.options.People.Model(who):
		return approval.Decision{}, wire.Errorf(wire.Forbidden, "a model's approval never counts: deny, or pass the request on with a note")
	case decision.Scope != "" && (who == "" || r.Emitter == ""):
		return approval.Decision{}, wire.Errorf(wire.Forbidden, "an approval beyond a session requires a proven approver and a proven sender: see identities")
	case decision.Granted && r.Needs != nil:
		return s.allow(ctx, r, at, record, decision)
	}
	return s.Decide(ctx, r, decision, nuid.Next())
}

// Decide makes a decision the only one of its approval request. If another was first, the error
// names it. If it allows a request whose session has ended or been revoked since, Decide denies
// instead and returns an error. The nonce tells equal decisions apart: the same nonce means a
// retry.
func (s *Service) Decide(ctx context.Context, r *held.Event, decision approval.Decision, nonce string) (approval.Decision, error) {
	past := decision.Granted && s.past(ctx, r)
	if past {
		decision = approval.Revoked(s.Now())
	}
	err := s.log.Decide(ctx, r.FirstSegment(), r.ID, s.decisionRecord(r, decision, nonce))
	if err != nil {
		first, readErr := s.readDecision(ctx, r.FirstSegment(), r.ID) // an append that timed out may have been the first
		switch {
		case readErr != nil && errors.Is(err, natsx.ErrRevision):
			return approval.Decision{}, unavailable(readErr)
		case readErr != nil:
			return approval.Decision{}, unavailable(err)
		case first.Nonce != nonce:
			s.apply(r, first.Decision)
			return approval.Decision{}, tooLate(first.Decision)
		}
		decision = first.Decision
	}
	if err := s.remember(ctx, r, decision); err != nil {
		s.options.Log.Warn("approval not remembered for its session; it will be asked again", "approval_id", r.ID, "error", err)
	}
	if err := s.dispatcher.Unlabel(ctx, r, decision); err != nil {
		s.options.Log.Warn("labels not removed from the session; they still apply", "approval_id", r.ID, "error", err)
	}
	s.apply(r, decision)
	s.dispatcher.Decided(ctx, r, decision)
	if past {
		return approval.Decision{}, tooLate(decision)
	}
	return decision, nil
}

// past reports whether an approval request is from before its session ended or was revoked. If the
// session can't be read, the answer counts.
func (s *Service) past(ctx context.Context, r *held.Event) bool {
	ctx, cancel := context.WithTimeout(ctx, rememberTimeout)
	defer cancel()
	past, err := s.options.Sessions.Past(ctx, r)
	if err != nil {
		s.options.Log.Warn("session not read; the answer counts even if the approval was revoked", "approval_id", r.ID, "error", err)
	}
	return err == nil && past
}

// remember stores a decision that is valid for the whole session with the session.
func (s *Service) remember(ctx context.Context, r *held.Event, decision approval.Decision) error {
	if !decision.Granted || r.Needs != nil || !approval.Remembered(decision.Option) || r.Session == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, rememberTimeout)
	defer cancel()
	return s.options.Sessions.Remember(ctx, r, decision)
}

// rememberTimeout bounds remember and past: waiters wait for them too.
const rememberTimeout = 500 * time.Millisecond

// expire decides an approval request whose deadline has passed.
func (s *Service) expire(ctx context.Context, id string, _ int) (done bool) {
	s.mu.Lock()
	e := s.entries[id]
	over := e == nil || !e.pending()
	s.mu.Unlock()
	if over {
		return true
	}
	r, err := s.load(ctx, id)
	if wire.CodeOf(err) == wire.NotFound { // the store dropped it, maybe while this replica was away
		s.mu.Lock()
		defer s.mu.Unlock()
		s.drop(id)
		return true
	}
	if err == nil {
		_, err = s.Decide(ctx, r, approval.TimedOut(r.Request, s.Now()), "timeout-"+s.replica)
	}
	if code := wire.CodeOf(err); err == nil || code == wire.Conflict || code == wire.Gone {
		return true
	}
	s.options.Log.Warn("approval timeout not decided; trying again", "approval_id", id, "error", err)
	return false
}

func tooLate(d approval.Decision) error {
	if d.TimedOut {
		return wire.Errorf(wire.Gone, "the time for an answer ended at %s: the default applies, which is to %s", d.Decided, verb(d))
	}
	if d.DecidedBy == approval.ByOutdated {
		return wire.Errorf(wire.Conflict, "this request is outdated: since it was asked, the session has seen more, ended, or had its approvals revoked, and its event is decided again")
	}
	if d.Option == "" {
		return wire.Errorf(wire.Conflict, "already decided by %s at %s, without an answer: %s", d.DecidedBy, d.Decided, verb(d))
	}
	return wire.Errorf(wire.Conflict, "already decided: %q by %s at %s", d.Option, d.DecidedBy, d.Decided)
}

func verb(d approval.Decision) string {
	if d.Granted {
		return "allow"
	}
	return "deny"
}
