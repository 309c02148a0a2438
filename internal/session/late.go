package session

import (
	"context"
	"slices"
	"time"

	"github.com/hookrouter/hookrouter/pkg/chain"
)

// Late is an injection that arrived after the answer to its event, for the next turn.
type Late struct {
	chain.ContextInjection
	Came time.Time `json:"came"`
	// Event is the id of the event that took the injection; empty while it waits. That event gets
	// it again, since its answer may have been lost. Other events do not.
	Event string `json:"taken_by,omitempty"`
}

// Limits of a session's late injections.
const (
	maxLate      = 16
	maxLateBytes = 32 << 10
	maxLateAge   = time.Hour
)

// Keep stores an injection for the session's next turn, and drops the oldest ones to make room.
// since is when its event arrived; kept is false if the session has ended since.
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

// expireLate drops injections that waited too long.
func (s *State) expireLate(now time.Time) {
	s.Late = slices.DeleteFunc(s.Late, func(l Late) bool { return now.Sub(l.Came) > maxLateAge })
}

// takeLate returns the waiting late injections for an event, or those that the event got before.
func (s *State) takeLate(eventID string, now time.Time) (list []chain.ContextInjection) {
	s.expireLate(now)
	s.Late = slices.DeleteFunc(s.Late, func(l Late) bool { return l.Event != "" && l.Event != eventID })
	for i := range s.Late {
		s.Late[i].Event = eventID
		list = append(list, s.Late[i].ContextInjection)
	}
	return list
}
