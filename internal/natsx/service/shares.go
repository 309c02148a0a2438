package service

import (
	"sync"
	"time"

	"github.com/hookrouter/hookrouter/internal/wire"
)

// MaxRefusals is how many requests of one sender, or of all unknown senders, may be refused in a
// second. It does not count those refused because others use up a limit. A client that reads its
// replies stays far below it: more is a flood.
const MaxRefusals = 1000

// Shares bounds the requests in flight of each proven sender on the endpoints that share it, so
// that no sender crowds out others. It is safe for concurrent use.
type Shares struct {
	limit    int
	own      int // of the router's own account; 0 for no limit
	shortest int
	flooded  func(account string)

	mu sync.Mutex // guards of
	of map[Sender]*share
}

// share counts the requests of one sender that are under way, and those refused since a moment.
type share struct {
	underWay, refused int
	since             time.Time
}

// NewShares makes shares with a limit of requests under way for each sender; shortest is as for
// [Request.Sender]. flooded is called with the account that exceeded [MaxRefusals], empty if it
// is unknown, and must not block.
func NewShares(limit, shortest int, flooded func(account string)) *Shares {
	return &Shares{limit: limit, shortest: shortest, flooded: flooded, of: map[Sender]*share{}}
}

// Own bounds the requests under way of the router's own account. Its senders, the workers, can't
// be told apart. Call it before the shares are used.
func (s *Shares) Own(limit int) {
	if s != nil {
		s.own = limit
	}
}

// take takes a place for a request of a sender. The zero Sender, of the router's own account,
// needs one only with [Shares.Own].
func (s *Shares) take(r *Request) (sender Sender, e *wire.Error) {
	if s == nil {
		return Sender{}, nil
	}
	sender, err := r.Sender(s.shortest)
	limit, who := s.limit, "agent"
	if err == nil && sender == (Sender{}) {
		if limit, who = s.own, "account"; limit == 0 {
			return sender, nil
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.count(Sender{})
		return Sender{}, wire.FromError(err)
	}
	of := s.share(sender)
	if of.underWay >= limit {
		return sender, wire.Errorf(wire.Overloaded, "%d requests of this %s are under way, which is the limit: try again later", limit, who)
	}
	of.underWay++
	return sender, nil
}

// release gives a place back.
func (s *Shares) release(sender Sender) {
	if s == nil || sender == (Sender{}) && s.own == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.of[sender].underWay--
}

// refuse counts a refusal. Those of the router's own account are not counted.
func (s *Shares) refuse(sender Sender) {
	if sender == (Sender{}) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count(sender)
}

// count counts a refusal; the zero Sender stands for all unknown senders. The caller holds mu.
func (s *Shares) count(sender Sender) {
	of := s.share(sender)
	if now := time.Now(); now.Sub(of.since) > time.Second {
		of.since, of.refused = now, 0
	}
	if of.refused++; of.refused == MaxRefusals+1 {
		s.flooded(sender.Account)
	}
}

// share returns the share of a sender, and makes a missing one. There are at most as many as
// senders, which only operators create. The caller holds mu.
func (s *Shares) share(sender Sender) *share {
	of := s.of[sender]
	if of == nil {
		of = &share{}
		s.of[sender] = of
	}
	return of
}
