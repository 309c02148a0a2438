package query

import (
	"context"
	"slices"

	"github.com/hookrouter/hookrouter/internal/auditlog/index"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// What an id may be of.
const (
	OfChain    = "chain"
	OfApproval = "approval"
	OfEvent    = "event"
	OfSession  = "session"
	LastDenial = "last denial"
)

// Found is what an id names.
type Found struct {
	Kind string // one of [OfChain] and so on
	// Chains are the ids of its chains, the one to show first: the newest that was denied,
	// of a chain the chain itself. Others follow, the newest first, [MaxFound] at most.
	Chains []string
	More   bool // there are more
}

// The bounds of a look-up: an agent may send any number of events with one id.
const (
	// MaxFound is how many chains a [Found] has.
	MaxFound = 20
	maxLook  = 500 // messages that are looked at
)

// Find says what an id names; the empty one stands for the last denial. Ids that routers
// make come before those that agents choose: a chain's and an approval request's before
// an event's, and that before a session's. The error is [ErrNoChain] where the log has
// nothing on it.
//
// It asks the index first. Where that has nothing, or there is none, whole is called, and
// if that is true the whole log is read.
func (l *Log) Find(ctx context.Context, id string, whole func() bool) (Found, error) {
	s := &search{id: id, chains: map[string]*candidate{}}
	err := l.look(ctx, s)
	if err == nil && len(s.chains) == 0 {
		if whole == nil || !whole() {
			return Found{}, ErrNoChain
		}
		err = l.scan(ctx, s)
	}
	if err != nil {
		return Found{}, err
	}
	return s.found()
}

// look searches with the index.
func (l *Log) look(ctx context.Context, s *search) error {
	known, err := l.found()
	if known == nil || err != nil {
		return err
	}
	id := s.id
	if id == "" {
		id = index.Denied
	}
	segments, err := l.Segments(ctx)
	if err != nil {
		return err
	}
	for _, seg := range slices.Backward(segments) {
		more, err := known.Find(ctx, seg, id, func(msg natsx.Record) (bool, error) {
			err := message(seg.Number, seg.Name(), msg, Filter{}.hopeless, func(r Record) error {
				s.take(r)
				return nil
			})
			s.looked++
			s.more = s.more || s.looked == maxLook
			return !s.enough() && s.looked < maxLook, err
		})
		if err != nil || !more {
			return err
		}
	}
	return nil
}

// scan searches the whole log, the newest record first.
func (l *Log) scan(ctx context.Context, s *search) error {
	return l.QueryNewest(ctx, Filter{any: s.id}, func(r Record) error {
		if s.take(r); s.enough() {
			return ErrEnough
		}
		return nil
	})
}

// search collects chains that have to do with an id.
type search struct {
	id     string
	chains map[string]*candidate
	order  []*candidate // as they were found
	looked int
	more   bool
}

// candidate is a chain that a search found.
type candidate struct {
	id     string
	rank   int // of what the id is to it: the least counts
	denied bool
}

var ranks = []string{OfChain, OfApproval, OfEvent, OfSession}

// take takes a record.
func (s *search) take(r Record) {
	if r.Err != nil || r.ChainID == "" {
		return
	}
	if r.Kind == audit.ApprovalReplayed && r.ChainID != s.id { // the chain that asked has the story
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

// enough reports whether what was found answers the question: a chain is one, and of
// others the newest denial is shown.
func (s *search) enough() bool {
	for _, c := range s.order {
		if c.rank == 0 || c.rank == 1 || c.denied && len(s.order) > MaxFound {
			return true
		}
	}
	return false
}

func (s *search) found() (Found, error) {
	if len(s.order) == 0 {
		return Found{}, ErrNoChain
	}
	best := slices.MinFunc(s.order, func(a, b *candidate) int { return a.rank - b.rank }).rank
	f := Found{Kind: ranks[best], More: s.more}
	if s.id == "" {
		f.Kind = LastDenial
	}
	show := -1
	for _, c := range s.order {
		switch {
		case c.rank != best:
			continue
		case len(f.Chains) == MaxFound:
			f.More = true
		default:
			f.Chains = append(f.Chains, c.id)
		}
		if c.denied && show < 0 {
			show = len(f.Chains) - 1
			if f.Chains[show] != c.id { // it stands behind what is listed
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

// at puts a chain together by what the index has, with what people decided. The error is
// [ErrNoChain] where it has nothing; [Log.Chain] then reads the log.
func (l *Log) at(ctx context.Context, id string) (*Chain, error) {
	known, err := l.found()
	if err != nil {
		return nil, err
	}
	if known == nil {
		return nil, ErrNoChain
	}
	segments, err := l.Segments(ctx)
	if err != nil {
		return nil, err
	}
	c := &Chain{ID: id}
	looked := 0
	for _, seg := range slices.Backward(segments) {
		if _, err := known.Find(ctx, seg, id, func(msg natsx.Record) (bool, error) {
			var these []Record
			err := message(seg.Number, seg.Name(), msg, Filter{}.hopeless, func(r Record) error {
				if r.Err == nil && r.ChainID == id && r.Kind != audit.ApprovalDecided {
					these = append(these, r)
				}
				return nil
			})
			c.Records = append(these, c.Records...)
			looked++
			return looked < maxLook, err
		}); err != nil {
			return nil, err
		}
		if c.Result() != nil { // what stands before it is in the segment that it ended in
			break
		}
	}
	if len(c.Records) == 0 {
		return nil, ErrNoChain
	}
	return c, l.addDecisions(ctx, c)
}
