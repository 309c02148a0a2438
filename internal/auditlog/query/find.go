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

// Find looks up an id; the empty one means the last denial. Ids that routers make take precedence
// over those that agents choose: a chain's and an approval request's over an event's, and that over
// a session's, however many events an agent sends with that id. The error is [ErrNoChain] if the
// log has nothing.
//
// It asks the index first. Without a result or an index, it calls whole, and reads the whole log
// if that returns true.
func (l *Log) Find(ctx context.Context, id string, whole func() bool) (Found, error) {
	s := newSearch(id)
	err := l.look(ctx, s)
	if err == nil && len(s.chains) == 0 {
		if whole == nil || !whole() {
			return Found{}, ErrNoChain
		}
		err = l.scan(ctx, s)
	}
	if err == nil && s.stopped && s.best() > 1 {
		s, err = l.owner(ctx, s)
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
			err := s.message(seg, msg)
			s.looked++
			s.more = s.more || s.looked == maxLook
			s.stopped = s.enough() || s.looked == maxLook
			return !s.stopped, err
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
		s.take(r)
		if s.stopped = s.enough(); s.stopped {
			return ErrEnough
		}
		return nil
	})
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
			err := message(seg.Number, seg.Name(), msg, Filter{}.excludes, func(r Record) error {
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
		if looked == maxLook { // others use its id, too
			return nil, ErrNoChain
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
