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
)

// maxReviews bounds the answers that a request keeps without ending.
const maxReviews = 32

// allow counts a person's approval of a request that takes several. The last one decides. Each
// earlier one is stored with the request, so that every replica and the next process know it.
func (s *Service) allow(ctx context.Context, r *held.Event, at uint64, record bool, d approval.Decision) (approval.Decision, error) {
	progress, done, err := s.options.People.CountApproval(r.Needs, r.Emitter, approvers(r), d.DecidedBy)
	if err != nil {
		return approval.Decision{}, err
	}
	if done {
		d.ApprovedBy = append(approvers(r), d.DecidedBy)
		return s.Decide(ctx, r, d, nuid.Next())
	}
	err = s.review(ctx, r, at, progress, record, approval.Review{
		By: d.DecidedBy, Person: s.options.People.Person(d.DecidedBy), Option: d.Option, Note: d.Note, Claimed: d.ClaimedBy, Time: d.Decided,
	})
	if err != nil {
		return approval.Decision{}, err
	}
	return approval.Decision{Option: d.Option, DecidedBy: d.DecidedBy}, nil
}

// passOn stores the note of an approver who leaves the decision to others.
func (s *Service) passOn(ctx context.Context, r *held.Event, at uint64, record bool, review approval.Review) error {
	review.Person, review.Model = s.options.People.Person(review.By), s.options.People.Model(review.By)
	if review.Person == "" && !review.Model {
		return wire.Errorf(wire.Forbidden, "%q is not a known person or model (--approval-groups): only known people and models may pass a request on", review.By)
	}
	if slices.ContainsFunc(r.Reviews, func(o approval.Review) bool { return o.By == review.By && !o.Allows() }) {
		return wire.Errorf(wire.Conflict, "%s has passed this request on already", review.Who())
	}
	return s.review(ctx, r, at, r.Progress, record, review)
}

// review records an answer that does not end the request, then stores it. The error is
// [natsx.ErrRevision] if another answer was stored meanwhile.
func (s *Service) review(ctx context.Context, r *held.Event, at uint64, progress string, record bool, review approval.Review) error {
	if len(r.Reviews) >= maxReviews {
		return wire.Errorf(wire.Conflict, "this request has %d answers that did not decide it, which is the limit: deny it, or let it expire", maxReviews)
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
	if record {
		if err := s.dispatcher.Reviewed(ctx, r, review); err != nil {
			return unavailable(err)
		}
	}
	err = s.bucket.UpdateFor(ctx, r.ID, body, at, time.Until(r.Expires.Time)+keptAfter)
	switch {
	case errors.Is(err, natsx.ErrRevision):
		return err
	case err != nil:
		return unavailable(err)
	}
	s.know(&next)
	s.dispatcher.Waits(ctx, &next)
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
