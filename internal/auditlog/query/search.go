package query

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/hookrouter/hookrouter/internal/auditlog/index"
	"github.com/hookrouter/hookrouter/internal/auditlog/store"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// search collects chains related to an id.
type search struct {
	id      string
	chains  map[string]*candidate
	order   []*candidate // in order of discovery
	looked  int
	more    bool
	stopped bool // before all was read
}

func newSearch(id string) *search { return &search{id: id, chains: map[string]*candidate{}} }

// candidate is a chain that a search found.
type candidate struct {
	id     string
	rank   int // how the id relates to it; lower wins
	denied bool
}

var ranks = []string{OfChain, OfApproval, OfEvent, OfSession}

// message adds the records of a message.
func (s *search) message(seg store.Segment, msg natsx.Record) error {
	return message(seg.Number, seg.Name(), msg, Filter{}.excludes, func(r Record) error {
		s.take(r)
		return nil
	})
}

// take adds a record.
func (s *search) take(r Record) {
	if r.Err != nil || r.ChainID == "" {
		return
	}
	if r.Kind == audit.ApprovalReplayed && r.ChainID != s.id { // the chain that asked has the records
		return
	}
	denied := r.Action == "deny" && (r.Kind == audit.ChainResult || r.Kind == audit.ApprovalDecided)
	rank := slices.Index([]string{r.ChainID, r.ApprovalID, r.EventID, r.Session}, s.id)
	if s.id == "" {
		rank = -1
		if denied {
			rank = 0
		}
	}
	if rank < 0 {
		return
	}
	c := s.chains[r.ChainID]
	if c == nil {
		c = &candidate{id: r.ChainID, rank: rank}
		s.chains[r.ChainID] = c
		s.order = append(s.order, c)
	}
	c.rank, c.denied = min(c.rank, rank), c.denied || denied
}

// enough reports whether the result answers the question: one chain does, and of several the
// newest denial is shown.
func (s *search) enough() bool {
	for _, c := range s.order {
		if c.rank == 0 || c.rank == 1 || c.denied && len(s.order) > maxFound {
			return true
		}
	}
	return false
}

// best returns the lowest rank of what was found.
func (s *search) best() int {
	return slices.MinFunc(s.order, func(a, b *candidate) int { return a.rank - b.rank }).rank
}

func (s *search) found() (Found, error) {
	if len(s.order) == 0 {
		return Found{}, ErrNoChain
	}
	best := s.best()
	f := Found{Kind: ranks[best], More: s.more}
	if s.id == "" {
		f.Kind = LastDenial
	}
	show := -1
	for _, c := range s.order {
		switch {
		case c.rank != best:
			continue
		case len(f.Chains) == maxFound:
			f.More = true
		default:
			f.Chains = append(f.Chains, c.id)
		}
		if c.denied && show < 0 {
			show = len(f.Chains) - 1
			if f.Chains[show] != c.id { // it is not among the listed ones
				f.Chains[show] = c.id
			}
		}
		if s.id == "" {
			return f, nil // the newest
		}
	}
	if show > 0 {
		first := f.Chains[show]
		f.Chains = slices.Insert(slices.Delete(f.Chains, show, show+1), 0, first)
	}
	return f, nil
}

// owner searches for the chain or the approval request that an id was made for, if a search found
// only events and sessions and stopped early. An agent can reuse an id only later, so the oldest
// message with the id shows what it was made for. If that is no chain or request, owner returns s.
func (l *Log) owner(ctx context.Context, s *search) (*search, error) {
	known, err := l.openIndex()
	if err != nil {
		return nil, err
	}
	first := newSearch(s.id)
	switch decision, err := l.Decision(ctx, 1, s.id); { // an agent can know the id of its next request
	case err == nil:
		first.take(decision)
		return first, nil
	case !errors.Is(err, natsx.ErrNoKey):
		return s, err
	}
	if known == nil {
		never := func(time.Time) bool { return false }
		err = l.query(ctx, Filter{any: s.id}, time.Time{}, never, func(r Record) error {
			first.take(r)
			return ErrEnough
		})
	} else {
		err = l.oldest(ctx, known, first)
	}
	if err == nil && len(first.order) > 0 && first.best() <= 1 {
		s = first
	}
	return s, err
}

// oldest searches the oldest message with the id.
func (l *Log) oldest(ctx context.Context, known *index.Index, s *search) error {
	segments, err := l.Segments(ctx)
	if err != nil {
		return err
	}
	for _, seg := range segments {
		more, err := known.FindOldest(ctx, seg, s.id, func(msg natsx.Record) (bool, error) {
			err := s.message(seg, msg)
			return len(s.order) == 0, err
		})
		if err != nil || !more {
			return err
		}
	}
	return nil
}
