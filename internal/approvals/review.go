package approvals

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/nats-io/nuid"

	"github.com/hookrouter/hookrouter/internal/approvals/held"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// People knows the people and models behind proven identities.
type People interface {
	// Person returns the person of an identity; empty for none.
	Person(identity string) string
	// Model reports whether an identity is a model's. Models never allow.
	Model(identity string) bool
	// CountApproval adds the approval of an identity to earlier ones of what sender asks for. The error,
	// with code 403 or 409, says why it does not count.
	CountApproval(a *chain.Approval, sender string, earlier []string, identity string) (progress string, done bool, err error)
}

// maxReviews bounds the answers that a request keeps without ending.
const maxReviews = 32

// allow counts a person's approval of a request that takes several. The last one decides. Each
// earlier one is stored with the request, so that every replica and the next process know it. Of
// two concurrent approvals, the second sees the first.
func (s *Service) allow(ctx context.Context, r *held.Event, at uint64, d approval.Decision) (approval.Decision, error) {
	recorded := false
	for {
		progress, done, err := s.options.People.CountApproval(r.Needs, r.Emitter, approvers(r), d.DecidedBy)
		if err != nil {
			return approval.Decision{}, err
		}
		if done {
			d.ApprovedBy = append(approvers(r), d.DecidedBy)
			return s.Decide(ctx, r, d, nuid.Next())
		}
		err = s.review(ctx, r, at, progress, !recorded, approval.Review{
			By: d.DecidedBy, Person: s.options.People.Person(d.DecidedBy), Option: d.Option, Note: d.Note, Claimed: d.ClaimedBy, Time: d.Decided,
		})
		if err == nil {
			return approval.Decision{Option: d.Option, DecidedBy: d.DecidedBy}, nil
		}
		if recorded = true; !errors.Is(err, natsx.ErrRevision) {
			return approval.Decision{}, unavailable(err)
		}
		if r, at, err = s.loadAt(ctx, r.ID); err != nil {
			return approval.Decision{}, err
		}
	}
}

// passOn stores the note of somebody who leaves the decision to others.
func (s *Service) passOn(ctx context.Context, r *held.Event, at uint64, review approval.Review) error {
	review.Person, review.Model = s.options.People.Person(review.By), s.options.People.Model(review.By)
	if review.Person == "" && !review.Model {
		return wire.Errorf(wire.Forbidden, "%q is nobody whom the router knows (--approval-groups): only people and models that it knows pass a request on", review.By)
	}
	for recorded := false; ; recorded = true {
		if slices.ContainsFunc(r.Reviews, func(o approval.Review) bool { return o.By == review.By && !o.Allows() }) {
			return wire.Errorf(wire.Conflict, "%s has passed this request on already", review.Who())
		}
		err := s.review(ctx, r, at, r.Progress, !recorded, review)
		if err == nil {
			return nil
		}
		if !errors.Is(err, natsx.ErrRevision) {
			return unavailable(err)
		}
		if r, at, err = s.loadAt(ctx, r.ID); err != nil {
			return err
		}
	}
}

// review records an answer that does not end the request, then stores it. The error is
// [natsx.ErrRevision] if another answer was stored meanwhile.
func (s *Service) review(ctx context.Context, r *held.Event, at uint64, progress string, record bool, review approval.Review) error {
	if len(r.Reviews) >= maxReviews {
		return wire.Errorf(wire.Conflict, "%d answers wait with this request, which is the limit: deny it, or let its time pass", maxReviews)
	}
	if decided, err := s.Decision(ctx, r); err != nil {
		return err
	} else if decided != nil {
		return tooLate(*decided)
	}
	next := *r
	next.Reviews, next.Progress = append(slices.Clip(r.Reviews), review), progress
	body, err := s.fit(&next)
	if err != nil {
		return err
	}
	if record && s.options.Reviewed != nil {
		if err := s.options.Reviewed(ctx, r, review); err != nil {
			return err
		}
	}
	if err := s.bucket.UpdateFor(ctx, r.ID, body, at, time.Until(r.Expires.Time)+keptAfter); err != nil {
		return err
	}
	s.know(&next)
	if s.options.Waits != nil {
		s.options.Waits(ctx, &next)
	}
	return nil
}

// approvers returns the identities that have allowed.
func approvers(r *held.Event) (list []string) {
	for _, review := range r.Reviews {
		if review.Allows() {
			list = append(list, review.By)
		}
	}
	return list
}
