package embedded

import (
	"fmt"
	"time"

	"github.com/nats-io/jwt/v2"
)

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
	// The server closes a connection that does not read only after its write deadline. Without
	// imports, what it sends until then is delivered to nobody.
	block := func(claims *jwt.AccountClaims) { claims.Limits.Conn, claims.Imports = 0, nil }
	if err := s.limit(account, block); err != nil {
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
