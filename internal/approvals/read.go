package approvals

import (
	"context"
	"errors"
	"strings"

	"github.com/hookrouter/hookrouter/internal/approvals/held"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/approval"
)

// Get returns all that is known of an approval request.
func (s *Service) Get(ctx context.Context, id string) (approval.Record, error) {
	stored, err := s.load(ctx, id)
	if err != nil {
		return approval.Record{}, err
	}
	r := stored.Record
	r.Decision, err = s.Decision(ctx, stored)
	if err != nil {
		return approval.Record{}, err
	}
	s.options.Mask(&r)
	return r, nil
}

// Find returns the approval request of an event, nil for none. sent is the digest of the event's
// data; other data is a conflict.
func (s *Service) Find(ctx context.Context, id, eventID, sent string) (*held.Event, error) {
	r, err := s.Load(ctx, id)
	switch {
	case wire.CodeOf(err) == wire.NotFound:
		return nil, nil
	case err == nil && r.Sent != sent:
		return nil, otherData(eventID)
	}
	return r, err
}

// Load returns an approval request by its id. The error has code 404 if there is none.
func (s *Service) Load(ctx context.Context, id string) (*held.Event, error) {
	r, err := s.load(ctx, id)
	if err != nil {
		return nil, err
	}
	s.know(r)
	return r, nil
}

// know adds a request that was read from the store to the table, so that its decision can be
// awaited.
func (s *Service) know(r *held.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.addRequest(r, len(r.Data))
}

// CheckData refuses an event whose approval request has other data, as far as this replica has
// seen. It reads no store. It calls sent for the digest only if needed.
func (s *Service) CheckData(id, eventID string, sent func() string) error {
	var have string
	s.mu.Lock()
	if e := s.entries[id]; e != nil {
		have = e.sent
	}
	s.mu.Unlock()
	if have != "" && have != sent() {
		return otherData(eventID)
	}
	return nil
}

// load reads an approval request from the store.
func (s *Service) load(ctx context.Context, id string) (*held.Event, error) {
	r, _, err := s.loadAt(ctx, id)
	return r, err
}

// loadAt is load, with the revision that it read.
func (s *Service) loadAt(ctx context.Context, id string) (*held.Event, uint64, error) {
	if !validID(id) {
		return nil, 0, held.Unknown(id)
	}
	e, err := s.bucket.Get(ctx, id)
	if errors.Is(err, natsx.ErrNoKey) {
		return nil, 0, held.Unknown(id)
	}
	if err != nil {
		return nil, 0, unavailable(err)
	}
	r, err := held.Decode(e.Value)
	return r, e.Revision, err
}

// Decision returns the decision on an approval request, nil for none.
func (s *Service) Decision(ctx context.Context, r *held.Event) (*approval.Decision, error) {
	if known := s.knownDecision(r); known != nil {
		return known, nil
	}
	stored, err := s.readDecision(ctx, r.FirstSegment(), r.ID)
	if errors.Is(err, natsx.ErrNoKey) {
		return nil, nil
	}
	if err != nil {
		return nil, unavailable(err)
	}
	return &stored.Decision, nil
}

// readDecision reads the decision on an approval request of a segment from the log.
func (s *Service) readDecision(ctx context.Context, segment int, id string) (storedDecision, error) {
	_, rec, err := s.log.Decision(ctx, segment, id)
	if err != nil {
		return storedDecision{}, err
	}
	return decodeDecision(id, rec.Body), nil
}

// validID keeps invalid ids out of subjects and keys.
func validID(id string) bool {
	return id != "" && len(id) <= 64 && strings.Trim(id, "abcdefghijklmnopqrstuvwxyz0123456789") == ""
}

func unavailable(err error) error {
	if e, ok := errors.AsType[*wire.Error](err); ok {
		return e
	}
	return wire.Errorf(wire.Unavailable, "the approvals can't be reached: %v: try again", err)
}
