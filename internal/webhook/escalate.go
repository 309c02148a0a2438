package webhook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/pkg/approval"
)

// Escalation is a receiver that is notified of an approval request only if nobody has answered it
// for a while.
type Escalation struct {
	// After is the delay, counted from when the request was made.
	After time.Duration
	// URL is a URL as in [Options.URLs].
	URL string
}

// ParseEscalation parses "10m=https://host/path". The error does not contain the URL.
func ParseEscalation(text string) (Escalation, error) {
	wait, url, found := strings.Cut(text, "=")
	after, err := time.ParseDuration(wait)
	if !found || err != nil || after <= 0 {
		return Escalation{}, errors.New("a time and a URL are needed, such as 10m=https://host/path")
	}
	if _, err := checkURL(url); err != nil {
		return Escalation{}, fmt.Errorf("the URL after %s: %w", wait, err)
	}
	return Escalation{after, url}, nil
}

// lateReceiver is the receiver of an Escalation.
type lateReceiver struct {
	*receiver
	after time.Duration
}

// unanswered is an open approval request, and how many of the late receivers have been notified of
// it.
type unanswered struct {
	approval.Request
	told  int
	agent string // the proven sender; set with the first notification
}

// listAgain is the delay before open requests are listed again after a failure.
const listAgain = time.Second

// Follow notifies the receivers of [Options.Later] of requests that nobody has answered in time,
// including those from before this process started, and then of the decision. It returns when ctx
// ends.
func (s *Sender) Follow(ctx context.Context, service approval.Service) {
	if len(s.later) == 0 {
		return
	}
	notices, stop := service.Watch() // before listing, so that no request is missed
	defer stop()
	open, list := map[string]*unanswered{}, time.After(0)
	for {
		var due <-chan time.Time
		if at, some := s.nextDue(open); some {
			due = time.After(time.Until(at))
		}
		select {
		case <-ctx.Done():
			return
		case <-list:
			if list = nil; !s.listOpen(ctx, service, open) {
				list = time.After(listAgain)
			}
		case n, more := <-notices:
			if !more {
				return
			}
			if n.Lost {
				list = time.After(0)
			}
			s.follow(ctx, open, n)
		case <-due:
			s.tellLate(ctx, service, open)
		}
	}
}

// listOpen updates open to the requests that are open, and notifies of decisions whose notices were
// lost. It returns false if it could not get all of them.
func (s *Sender) listOpen(ctx context.Context, service approval.Service, open map[string]*unanswered) bool {
	list, _, err := service.Pending(ctx, approval.Filter{})
	if err != nil {
		return false
	}
	gone := maps.Clone(open)
	for _, q := range list {
		delete(gone, q.ID)
		s.follow(ctx, open, approval.Notice{Request: q})
	}
	for id, u := range gone {
		switch record, err := service.Get(ctx, id); {
		case err != nil && time.Now().After(u.Expires.Time):
			delete(open, id) // the store no longer keeps it
		case err != nil:
			return false
		case record.Decision != nil:
			s.follow(ctx, open, approval.Notice{Request: u.Request, Decision: record.Decision})
		}
	}
	return true
}

func (s *Sender) follow(ctx context.Context, open map[string]*unanswered, n approval.Notice) {
	u, known := open[n.Request.ID]
	switch {
	case n.Decision == nil && !known:
		open[n.Request.ID] = &unanswered{Request: n.Request}
	case n.Decision == nil:
		u.Request = n.Request
	case n.Decision != nil && known:
		delete(open, n.Request.ID)
		n.Emitter = u.agent
		s.offerLate(ctx, s.later[:u.told], n)
	}
}

// nextDue returns when to notify the next receiver. some is false if there is none.
func (s *Sender) nextDue(open map[string]*unanswered) (at time.Time, some bool) {
	for _, u := range open {
		if u.told == len(s.later) {
			continue
		}
		if due := u.Created.Add(s.later[u.told].after); !some || due.Before(at) {
			at, some = due, true
		}
	}
	return at, some
}

// tellLate notifies the receivers that are due, unless the request has been decided.
func (s *Sender) tellLate(ctx context.Context, service approval.Service, open map[string]*unanswered) {
	now := time.Now()
	for id, u := range open {
		first := u.told
		for u.told < len(s.later) && !u.Created.Add(s.later[u.told].after).After(now) {
			u.told++
		}
		if u.told == first {
			continue
		}
		record, err := service.Get(ctx, id)
		if err == nil && record.Decision != nil {
			delete(open, id)
			continue
		}
		if err == nil {
			u.agent = record.Emitter
		}
		s.offerLate(ctx, s.later[first:u.told], approval.Notice{Request: u.Request, Emitter: u.agent})
	}
}

func (s *Sender) offerLate(ctx context.Context, receivers []lateReceiver, n approval.Notice) {
	if m, ok := s.encode(ctx, Required, n); ok {
		for _, r := range receivers {
			r.offer(m)
		}
	}
}

// byWait sorts late receivers by their delay, shortest first.
func byWait(list []lateReceiver) {
	slices.SortStableFunc(list, func(a, b lateReceiver) int { return cmp.Compare(a.after, b.after) })
}
