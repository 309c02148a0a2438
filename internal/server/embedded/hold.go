package embedded

import (
	"fmt"
	"time"

	"github.com/nats-io/jwt/v2"
)

// Hold closes a sender's connections and rejects new ones for a while. A flood uses processors and
// memory of the server before any program sees it, and only the server can stop it. Nothing is
// stored: a restart, or new claims of the account, end the hold. It fails if there is no such
// account.
func (s *Server) Hold(who Sender, d time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held == nil || s.held[who] != nil {
		return nil // stopped, or on hold already
	}
	s.held[who] = time.AfterFunc(d, func() { s.letIn(who) })
	if err := s.limit(who.Account); err != nil {
		s.held[who].Stop()
		delete(s.held, who)
		return err
	}
	return nil
}

func (s *Server) letIn(who Sender) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held == nil {
		return
	}
	delete(s.held, who)
	_ = s.limit(who.Account) // the account existed when the hold began
}

// limit applies an account's stored claims, minus what is on hold. The caller holds mu.
func (s *Server) limit(account string) error {
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
	for who := range s.held {
		switch {
		case who.Account != account:
		case who.User != "":
			claims.RevokeAt(who.User, time.Now().AddDate(1, 0, 0)) // independent of the clock when the JWT was made
		default:
			// The server closes a connection that does not read only after its write deadline.
			// Without imports and exports, messages that it sends until then are not delivered.
			claims.Limits.Conn, claims.Imports, claims.Exports = 0, nil, nil
		}
	}
	s.UpdateAccountClaims(a, claims)
	return nil
}

// endHolds stops the timers that would end holds.
func (s *Server) endHolds() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, timer := range s.held {
		timer.Stop()
	}
	s.held = nil
}
