package hookstate

import (
	"fmt"
	"sync"
	"time"
)

// MaxNew limits the new sessions of one sender for which a hook stores state in a shared [Store],
// per day and process. A sender chooses the ids of its sessions: without a limit, it could fill the
// store.
const MaxNew = 10_000

// senders counts the new values of each sender.
type senders struct {
	mu    sync.Mutex // guards the fields below
	since time.Time
	count map[string]int
}

// check returns an error if the sender has reached the limit.
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

// add adds n to the count of a sender; n is negative for removed values.
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
