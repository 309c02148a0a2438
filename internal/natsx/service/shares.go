package service

import (
	"sync"
	"time"

	"github.com/hookrouter/hookrouter/internal/wire"
)

// MaxRefusals is how many requests of one sender, or of all whom nobody can name, may be refused
// in a second for what they are themselves, not for what others take. A client that reads its
// replies stays far below: what exceeds it is a flood.
const MaxRefusals = 1000

// Shares bounds what one proven sender takes of the endpoints that have it, so that nobody takes
// them from the others. It is safe for concurrent use.
type Shares struct {
	limit    int
	own      int // of the router's own account; 0 for no limit
	shortest int
	flooded  func(account string)

	mu sync.Mutex // guards of
	of map[Sender]*share
}

// share is what one sender has under way, and how much of it was refused since a moment.
type share struct {
	underWay, refused int
	since             time.Time
}

// NewShares makes shares of so many requests under way for each sender; shortest is as for
// [Request.Sender]. flooded is called with the account that exceeded [MaxRefusals], empty if
// nobody can name it, and must not block.
func NewShares(limit, shortest int, flooded func(account string)) *Shares {
	return &Shares{limit: limit, shortest: shortest, flooded: flooded, of: map[Sender]*share{}}
}

// Own bounds what the router's own account has under way, whose senders nobody can tell apart:
// workers. Call it before the shares are used.
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

func (s *Shares) give(sender Sender) {
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

// count counts a refusal; the zero Sender stands for all whom nobody can name. The caller holds mu.
func (s *Shares) count(sender Sender) {
	of := s.share(sender)
	if now := time.Now(); now.Sub(of.since) > time.Second {
		of.since, of.refused = now, 0
	}
	if of.refused++; of.refused == MaxRefusals+1 {
		s.flooded(sender.Account)
	}
}

// share is a sender's. As many are kept as there are senders, which operators make. The caller
// holds mu.
func (s *Shares) share(sender Sender) *share {
	of := s.of[sender]
	if of == nil {
		of = &share{}
		s.of[sender] = of
	}
	return of
}
