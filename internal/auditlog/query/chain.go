package query

import (
	"context"
	"encoding/hex"
	"errors"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// Chain contains the log's records of one chain.
type Chain struct {
	ID      string
	Records []Record // in log order
}

// Of returns the records of some kinds, in log order.
func (c *Chain) Of(kinds ...audit.Kind) (list []Record) {
	f := Filter{Kinds: kinds}
	for _, r := range c.Records {
		if r.Err == nil && f.Match(&r) {
			list = append(list, r)
		}
	}
	return list
}

// Approvals returns the records of each approval request, in the order in which the requests
// first occur.
func (c *Chain) Approvals() (list [][]Record) {
	at := map[string]int{}
	for _, r := range c.Of(audit.ApprovalRequested, audit.ApprovalReviewed, audit.ApprovalRevealed, audit.ApprovalDecided) {
		i, known := at[r.ApprovalID]
		if !known {
			i = len(list)
			at[r.ApprovalID] = i
			list = append(list, nil)
		}
		list[i] = append(list[i], r)
	}
	return list
}

// Calls returns the records about calls of hooks, shadow hooks last.
func (c *Chain) Calls() (list []Record) {
	for _, shadow := range [...]bool{false, true} {
		for _, r := range c.Records {
			if r.OfHook() && r.Shadow == shadow {
				list = append(list, r)
			}
		}
	}
	return list
}

// Result returns the chain's result; nil if the log does not have it.
func (c *Chain) Result() *Record { return c.last(audit.ChainResult) }

// Refused returns the record which says that the agent did not get the chain's result; nil for
// none.
func (c *Chain) Refused() *Record { return c.last(audit.ChainRefused) }

func (c *Chain) last(kind audit.Kind) *Record {
	list := c.Of(kind)
	if len(list) == 0 {
		return nil
	}
	return &list[len(list)-1]
}

// ErrNoChain means that the log has no records about the given id.
var ErrNoChain = errors.New("the audit log has nothing on it")

// late is how long after its result a chain may still get records from shadow hooks.
const late = 10 * time.Minute

// Chain finds a chain by its id, with the decisions of people. The error is [ErrNoChain] if
// there is none.
func (l *Log) Chain(ctx context.Context, id string) (*Chain, error) {
	if c, err := l.at(ctx, id); !errors.Is(err, ErrNoChain) {
		return c, err
	}
	var since time.Time
	if made, ok := TimeOf(id); ok {
		since = made.Add(-time.Minute)
	}
	c, err := l.find(ctx, id, since)
	if errors.Is(err, ErrNoChain) && !since.IsZero() { // the id was made with another clock
		c, err = l.find(ctx, id, time.Time{})
	}
	if err != nil {
		return nil, err
	}
	return c, l.addDecisions(ctx, c)
}

func (l *Log) find(ctx context.Context, id string, since time.Time) (*Chain, error) {
	c := &Chain{ID: id}
	var ended time.Time
	enough := func(stored time.Time) bool { return !ended.IsZero() && stored.Sub(ended) > late }
	err := l.query(ctx, Filter{Chain: id}, since, enough, func(r Record) error {
		switch {
		case r.ChainID != id || r.Kind == audit.ApprovalDecided: // or a malformed record
			return nil
		case r.endsChain():
			ended = r.Stored
		}
		c.Records = append(c.Records, r)
		return nil
	})
	if err == nil && len(c.Records) == 0 {
		err = ErrNoChain
	}
	return c, err
}

// addDecisions adds the decisions on the chain's approval requests.
func (l *Log) addDecisions(ctx context.Context, c *Chain) error {
	asked := map[string]bool{}
	for _, q := range c.Of(audit.ApprovalRequested) {
		if asked[q.ApprovalID] {
			continue
		}
		asked[q.ApprovalID] = true
		decision, err := l.Decision(ctx, q.Segment, q.ApprovalID)
		if errors.Is(err, natsx.ErrNoKey) {
			continue
		}
		if err != nil {
			return err
		}
		c.Records = append(c.Records, decision)
	}
	return nil
}

// Decision reads the decision on an approval request that was made when the segment of that number
// was live. The error is [natsx.ErrNoKey] if there is none.
func (l *Log) Decision(ctx context.Context, segment int, id string) (decision Record, err error) {
	for _, c := range id {
		if c <= ' ' || c == '.' || c == '*' || c == '>' {
			return decision, natsx.ErrNoKey // no subject for a single approval request
		}
	}
	s, msg, err := l.store.Decision(ctx, segment, id)
	if err != nil {
		return decision, err
	}
	err = message(s.Number, s.Name(), msg, Filter{}.excludes, func(r Record) error {
		decision = r
		return nil
	})
	return decision, err
}

// ChainsOf returns the ids of the chains of an event or an approval request, in order of
// appearance.
func (l *Log) ChainsOf(ctx context.Context, f Filter) (ids []string, err error) {
	if f.Approval != "" {
		decision, err := l.Decision(ctx, 1, f.Approval)
		if err == nil && decision.ChainID != "" {
			return []string{decision.ChainID}, nil
		}
		if err != nil && !errors.Is(err, natsx.ErrNoKey) {
			return nil, err
		}
	}
	seen := map[string]bool{}
	err = l.Query(ctx, f, func(r Record) error {
		if r.ChainID != "" && !seen[r.ChainID] {
			seen[r.ChainID] = true
			ids = append(ids, r.ChainID)
		}
		return nil
	})
	if err == nil && len(ids) == 0 {
		err = ErrNoChain
	}
	return ids, err
}

// TimeOf returns the time in an id that is a version 7 UUID from the past.
func TimeOf(id string) (time.Time, bool) {
	if len(id) != 36 || id[14] != '7' {
		return time.Time{}, false
	}
	b, err := hex.DecodeString(strings.ReplaceAll(id[:13], "-", ""))
	if err != nil || len(b) != 6 {
		return time.Time{}, false
	}
	var ms int64
	for _, c := range b {
		ms = ms<<8 | int64(c)
	}
	made := time.UnixMilli(ms)
	return made, made.Before(time.Now().Add(time.Hour))
}
