package embedded

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
)

const (
	sample  = 250 * time.Millisecond
	loud    = 5000 // messages a second
	maxRead = 4096 // connections
)

// Loudest lists the accounts that send more than 5,000 messages a second, and at least half as
// many as the one that sends most. It looks for a quarter of a second, or until ctx ends.
func (s *Server) Loudest(ctx context.Context) (accounts []string) {
	before := s.received()
	select {
	case <-time.After(sample):
	case <-ctx.Done():
		return nil
	}
	sent, most := map[string]int64{}, int64(loud*sample/time.Second)
	for id, now := range s.received() {
		sent[now.account] += now.messages - before[id].messages
	}
	for _, n := range sent {
		most = max(most, n)
	}
	for account, n := range sent {
		if n >= int64(loud*sample/time.Second) && 2*n >= most {
			accounts = append(accounts, account)
		}
	}
	return accounts
}

// received is what the server received on each connection.
func (s *Server) received() map[uint64]traffic {
	list, err := s.Connz(&server.ConnzOptions{Username: true, Limit: maxRead, Sort: server.ByInMsgs})
	if err != nil {
		return nil
	}
	all := make(map[uint64]traffic, len(list.Conns))
	for _, c := range list.Conns {
		all[c.Cid] = traffic{c.Account, c.InMsgs}
	}
	return all
}

type traffic struct {
	account  string
	messages int64
}

// Hold ends an account's connections and refuses new ones for a while. What floods the server
// takes processors and memory before any program sees it, and only the server can stop that.
// Nothing is stored: a restart ends it, and so do new claims of the account. The error says that
// there is no such account.
func (s *Server) Hold(account string, d time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held == nil || s.held[account] != nil {
		return nil // stopped, or on hold already
	}
	if err := s.limit(account, func(claims *jwt.AccountClaims) { claims.Limits.Conn = 0 }); err != nil {
		return err
	}
	s.held[account] = time.AfterFunc(d, func() { s.letIn(account) })
	return nil
}

func (s *Server) letIn(account string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held == nil {
		return
	}
	delete(s.held, account)
	_ = s.limit(account, func(*jwt.AccountClaims) {}) // it was there before
}

// limit applies an account's stored claims with a change.
func (s *Server) limit(account string, change func(*jwt.AccountClaims)) error {
	a, err := s.LookupAccount(account)
	if err != nil {
		return fmt.Errorf("account %s: %w", account, err)
	}
	text, err := s.AccountResolver().Fetch(account)
	if err != nil {
		return fmt.Errorf("account %s: %w", account, err)
	}
	claims, err := jwt.DecodeAccountClaims(text)
	if err != nil {
		return fmt.Errorf("account %s: %w", account, err)
	}
	change(claims)
	s.UpdateAccountClaims(a, claims)
	return nil
}

// endHolds stops what would let accounts in again.
func (s *Server) endHolds() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, timer := range s.held {
		timer.Stop()
	}
	s.held = nil
}
