package hookstate

import (
	"fmt"
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

// check returns an error for one more value of a sender that has too many.
func (s *senders) check(sender string) error {
	if s == nil || sender == "" {
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
func (s *senders) add(sender string, n int) {
	if s == nil || sender == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.count != nil {
		s.count[sender] = max(s.count[sender]+n, 0)
	}
}
