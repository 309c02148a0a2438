package service

import (
	"sync"
	"time"

	"github.com/hookrouter/hookrouter/internal/wire"
)

// MaxRefusals is the number of requests of one sender, or of all unknown senders together, that may
// be refused in a second before they count as a flood. Refusals because others use up a limit do
// not count. Clients that read their replies stay far below it.
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

// share counts the requests of one sender in flight, and those refused since a point in time.
type share struct {
	underWay, refused int
	since             time.Time
}

// NewShares returns shares with a limit for the requests in flight of each sender. shortest is as
// for [Request.Sender]. flooded is called with the account that exceeded [MaxRefusals], empty if it
// is unknown, and must not block.
func NewShares(limit, shortest int, flooded func(account string)) *Shares {
	return &Shares{limit: limit, shortest: shortest, flooded: flooded, of: map[Sender]*share{}}
}

// Own limits the requests in flight of the router's own account as a whole, since its senders, the
// workers, can't be distinguished. Call it before the shares are used.
func (s *Shares) Own(limit int) {
	if s != nil {
		s.own = limit
	}
}

// take takes a place for a sender's request. The zero Sender, for the router's own account, needs
// one only with [Shares.Own].
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

// release releases a place.
func (s *Shares) release(sender Sender) {
	if s == nil || sender == (Sender{}) && s.own == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.of[sender].underWay--
}

// refuse counts a refusal, unless the sender is in the router's own account.
func (s *Shares) refuse(sender Sender) {
	if sender == (Sender{}) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count(sender)
}

// count counts a refusal. The zero Sender represents all unknown senders. The caller holds mu.
func (s *Shares) count(sender Sender) {
	of := s.share(sender)
	if now := time.Now(); now.Sub(of.since) > time.Second {
		of.since, of.refused = now, 0
	}
	if of.refused++; of.refused == MaxRefusals+1 {
		s.flooded(sender.Account)
	}
}

// share returns the share of a sender, and creates it if missing. Their number is bounded by that
// of senders, which only operators create. The caller holds mu.
func (s *Shares) share(sender Sender) *share {
	of := s.of[sender]
	if of == nil {
		of = &share{}
		s.of[sender] = of
	}
	return of
}
