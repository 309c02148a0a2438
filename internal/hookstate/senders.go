package hookstate

import (
	"fmt"
	"strings"
	"sync"
	"time"
)

// MaxNew bounds the sessions of one sender of which a hook begins to remember something in a
// [Store] that others share, in a day and in one process. A sender chooses the ids of its
// sessions: without a bound it could fill the store for all.
const MaxNew = 10_000

// senders counts the new values of each sender.
type senders struct {
	mu    sync.Mutex // guards what follows
	since time.Time
	count map[string]int
}

// senderOf is whose a session is: its name up to a line break. Senders are proven or share one
// name, so there are few.
func senderOf(session string) (sender string, known bool) {
	sender, _, known = strings.Cut(session, "\n")
	return sender, known
}

// check returns an error for one more value of a sender that has too many.
func (s *senders) check(session string) error {
	sender, known := senderOf(session)
	if s == nil || !known {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.since) > 24*time.Hour {
		s.since, s.count = time.Now(), map[string]int{}
	}
	if s.count[sender] >= MaxNew {
		return fmt.Errorf("the sender began more than %d sessions within a day: nothing is remembered of another", MaxNew)
	}
	return nil
}

// add counts values that are new, or gone.
func (s *senders) add(session string, n int) {
	sender, known := senderOf(session)
	if s == nil || !known {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.count != nil {
		s.count[sender] = max(s.count[sender]+n, 0)
	}
}
