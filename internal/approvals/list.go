package approvals

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/approval"
)

// listed is an open request in a list.
type listed struct {
	approval.Request
	sender string // proven; empty for none
	before int    // requests of the sender before it in the list
}

// Pending returns the requests that are open in the store now, oldest first unless the filter says
// otherwise, and their total. Proven senders share the bounds of the filter evenly, so that a flood
// does not hide the requests of others.
func (s *Service) Pending(ctx context.Context, f approval.Filter) ([]approval.Request, int, error) {
	if err := s.sync(ctx); err != nil {
		return nil, 0, err
	}
	s.mu.Lock()
	open := make([]listed, 0, s.open)
	for _, e := range s.entries {
		if e.pending() && (f.Session == "" || e.request.Session == f.Session) {
			open = append(open, listed{e.request, e.emitter, 0})
		}
	}
	s.mu.Unlock()
	byAge := func(a, b approval.Request) int {
		if f.Newest {
			a, b = b, a
		}
		return cmp.Or(a.Created.Compare(b.Created.Time), strings.Compare(a.ID, b.ID))
	}
	inTurn(open, byAge)
	list, size := []approval.Request{}, 0
	var text []byte
	for _, one := range open {
		if f.Limit > 0 && len(list) == f.Limit {
			break
		}
		q := s.Masked(one.Request)
		if f.Room > 0 {
			text = q.Append(text[:0])
			if size+len(text)+len(",") > f.Room {
				continue // a shorter one may fit
			}
			size += len(text) + len(",")
		}
		list = append(list, q)
	}
	slices.SortFunc(list, byAge)
	return list, len(open), nil
}

// inTurn sorts requests so that each sender's first comes before anybody's second.
func inTurn(open []listed, order func(a, b approval.Request) int) {
	slices.SortFunc(open, func(a, b listed) int { return order(a.Request, b.Request) })
	seen := map[string]int{}
	for i, one := range open {
		open[i].before = seen[one.sender]
		seen[one.sender]++
	}
	slices.SortStableFunc(open, func(a, b listed) int { return cmp.Compare(a.before, b.before) })
}

// syncTimeout bounds how long a list waits for earlier writes.
const syncTimeout = 2 * time.Second

// sync waits until this replica has applied the bucket's current content.
func (s *Service) sync(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, syncTimeout)
	defer cancel()
	last, err := s.bucket.Last(ctx)
	if err != nil {
		return unavailable(err)
	}
	for {
		s.mu.Lock()
		applied, moved := s.applied, s.moved
		s.mu.Unlock()
		if applied >= last {
			return nil
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return wire.Errorf(wire.Unavailable, "this router has not caught up with the open approval requests: try again")
		}
	}
}
