package signer

import (
	"context"
	"time"

	"github.com/hookrouter/hookrouter/internal/auditlog/store"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// isLive reports whether the segment is still the live one, after a refresh.
func (s *Signer) isLive(ctx context.Context) (live bool, err error) {
	err = s.store.Refresh(ctx)
	return s.store.Live().Number == s.segment.Number, err
}

// leave moves on from a segment that this signer does not sign, once an operator has closed it:
// the next segment's first checkpoint names the last one here.
func (s *Signer) leave(ctx context.Context) (left bool, err error) {
	state, err := s.store.State(ctx, s.segment)
	if err != nil || !state.Sealed {
		return false, err
	}
	if live, err := s.isLive(ctx); live || err != nil {
		return false, err
	}
	switch s.abandoned {
	case notWhatWasSigned: // the record is in the next segment, where it is signed
		s.raise(s.segment.Name() + " was closed, and its end is not signed: " + s.violation)
	case laterFormat:
		if err := s.adopt(ctx); err != nil {
			return false, err
		}
	}
	return true, s.next(ctx)
}

// begin finds the segment to start with: the first one whose end is not signed.
func (s *Signer) begin(ctx context.Context) error {
	segments, err := s.store.Segments(ctx)
	if err != nil {
		return err
	}
	for _, segment := range segments {
		if err := s.open(ctx, segment); err != nil {
			return err
		}
		state, err := s.store.State(ctx, segment)
		if err != nil {
			return err
		}
		if !state.Sealed || int64(state.Last) > s.size() && s.abandoned == "" {
			return nil
		}
	}
	return nil
}

// next opens the segment after this one.
func (s *Signer) next(ctx context.Context) error {
	segment, err := s.store.After(ctx, s.segment.Number)
	if err != nil {
		return err
	}
	return s.open(ctx, segment)
}

// open opens a segment at its last checkpoint.
func (s *Signer) open(ctx context.Context, segment store.Segment) error {
	s.segment, s.head, s.revision, s.mine, s.expect, s.log, s.abandoned, s.waiting = segment, nil, 0, false, nil, nil, "", time.Time{}
	err := s.adopt(ctx)
	if err == nil && s.log == nil {
		s.log = &audit.Log{}
	}
	return err
}
