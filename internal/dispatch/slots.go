package dispatch

import (
	"sync"

	"github.com/hookrouter/hookrouter/internal/sessionkey"
	"github.com/hookrouter/hookrouter/internal/wire"
)

// TakeSlots takes a slot of a session and one of its proven sender for a request that is not an
// event. The error has code 429.
func (d *Dispatcher) TakeSlots(sender, session string) (release func(), err error) {
	owned := sessionkey.Of(sender, session)
	if err := d.takeSlots(sender, owned); err != nil {
		return nil, err
	}
	return func() { d.releaseSlots(sender, owned) }, nil
}

// release frees the slots of the session and the sender.
func (d *Dispatcher) release(ev *event) { d.releaseSlots(ev.request.Emitter, ev.owned) }

func (d *Dispatcher) releaseSlots(sender, owned string) {
	d.sessionSlots.release(owned)
	d.senderSlots.release(sender)
}

// takeSlots takes a slot of the session, whose key is owned, and one of the sender.
func (d *Dispatcher) takeSlots(sender, owned string) error {
	if err := d.senderSlots.take(sender); err != nil {
		return err
	}
	err := d.sessionSlots.take(owned)
	if err != nil {
		d.senderSlots.release(sender)
	}
	return err
}

// slots counts and bounds the requests in flight for each session, or for each sender.
type slots struct {
	limit int
	of    string // "session" or "agent"

	mu    sync.Mutex // guards taken
	taken map[string]int
}

// take takes a slot. An empty name needs none.
func (s *slots) take(name string) error {
	if name == "" {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken == nil {
		s.taken = map[string]int{}
	}
	if s.taken[name] >= s.limit {
		return wire.Errorf(wire.Overloaded, "%d requests of this %s are under way, which is the limit: try again later", s.limit, s.of)
	}
	s.taken[name]++
	return nil
}

// release releases a slot.
func (s *slots) release(name string) {
	if name == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken[name]--; s.taken[name] <= 0 {
		delete(s.taken, name)
	}
}
