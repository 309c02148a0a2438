package session

import (
	"context"
	"slices"
	"time"

	"github.com/hookrouter/hookrouter/pkg/chain"
)

// Late is an injection that came after the answer to its event, for the next turn.
type Late struct {
	chain.ContextInjection
	Came time.Time `json:"came"`
	// Event is the id of the event that took it: the same event gets it again, as its answer
	// may have been lost, and no other does. Empty: it waits.
	Event string `json:"taken_by,omitempty"`
}

// Limits of the late injections that wait in a session.
const (
	maxLate      = 16
	maxLateBytes = 32 << 10
	maxLateAge   = time.Hour
)

// Keep keeps an injection whose event came at since for the session's next turn. kept is
// false where the session ended meanwhile. The oldest make room for it.
func (s *Store) Keep(ctx context.Context, id string, since time.Time, text chain.ContextInjection) (kept bool, err error) {
	err = s.Update(ctx, id, func(state *State) bool {
		kept = state.keep(since, time.Now(), text)
		return kept
	})
	return kept, err
}

func (s *State) keep(since, now time.Time, text chain.ContextInjection) bool {
	if s.Ended != nil && !since.After(*s.Ended) || len(text.Content) > maxLateBytes {
		return false
	}
	s.expireLate(now)
	s.Late = append(s.Late, Late{ContextInjection: text, Came: now.UTC()})
	bytes := 0
	for i, one := range slices.Backward(s.Late) {
		if bytes += len(one.Content); bytes > maxLateBytes || len(s.Late)-i > maxLate {
			s.Late = slices.Delete(s.Late, 0, i+1)
			break
		}
	}
	return true
}

// expireLate drops what waited too long.
func (s *State) expireLate(now time.Time) {
	s.Late = slices.DeleteFunc(s.Late, func(l Late) bool { return now.Sub(l.Came) > maxLateAge })
}

// takeLate gives an event the late injections that wait, or that it was given before.
func (s *State) takeLate(eventID string, now time.Time) (list []chain.ContextInjection) {
	s.expireLate(now)
	s.Late = slices.DeleteFunc(s.Late, func(l Late) bool { return l.Event != "" && l.Event != eventID })
	for i := range s.Late {
		s.Late[i].Event = eventID
		list = append(list, s.Late[i].ContextInjection)
	}
	return list
}
