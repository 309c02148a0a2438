package query

import (
	"context"
	"slices"

	"github.com/hookrouter/hookrouter/internal/auditlog/index"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// The kinds of ids.
const (
	OfChain    = "chain"
	OfApproval = "approval"
	OfEvent    = "event"
	OfSession  = "session"
	LastDenial = "last denial"
)

// Found says what an id names.
type Found struct {
	Kind string // one of [OfChain] and so on
	// Chains are the ids of the chains, first the one to show: the chain itself, or else the
	// newest denied one. The others follow, newest first, 20 at most.
	Chains []string
	More   bool // there are more
}

// Bounds of a look-up: an agent may send any number of events with one id.
const (
	// maxFound bounds the chains of a [Found].
	maxFound = 20
	maxLook  = 500 // messages that are read
)

// Find looks up an id; the empty one means the last denial. Ids that routers make win over those
// that agents choose: a chain's and an approval request's over an event's, and that over a
// session's. The error is [ErrNoChain] if the log has nothing.
//
// It asks the index first. Without a result or an index, it calls whole, and reads the whole log
// if that returns true.
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
	known, err := l.openIndex()
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

// scan searches the whole log, newest record first.
func (l *Log) scan(ctx context.Context, s *search) error {
	return l.QueryNewest(ctx, Filter{any: s.id}, func(r Record) error {
		if s.take(r); s.enough() {
			return ErrEnough
		}
		return nil
	})
}

// search collects chains related to an id.
type search struct {
	id     string
	chains map[string]*candidate
	order  []*candidate // in order of discovery
	looked int
	more   bool
}

// candidate is a chain that a search found.
type candidate struct {
	id     string
	rank   int // how the id relates to it; lower wins
	denied bool
}

var ranks = []string{OfChain, OfApproval, OfEvent, OfSession}

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

// at assembles a chain from the index, with the decisions of people. The error is [ErrNoChain]
// if the index has nothing; then [Log.Chain] reads the log.
func (l *Log) at(ctx context.Context, id string) (*Chain, error) {
	known, err := l.openIndex()
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
		if c.Result() != nil { // earlier records are in the segment of its end
			break
		}
	}
	if len(c.Records) == 0 {
		return nil, ErrNoChain
	}
	return c, l.addDecisions(ctx, c)
}
