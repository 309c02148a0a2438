package pinned

import (
	"slices"
	"time"

	"github.com/hookrouter/hookrouter/internal/wire"
)

// Order is an operator's order that pins a guard.
type Order struct {
	Guard
	By   string    `json:"by,omitempty"` // the operator, if proven
	Time time.Time `json:"time"`
}

// Check returns an error with code 409 if an order that replaces another requires less or something
// else: pinning must not take anything back.
func (o Order) Check(before Order) error {
	for _, pattern := range before.Events {
		if !slices.ContainsFunc(o.Events, func(has string) bool { return covers(has, pattern) }) {
			return wire.Errorf(wire.Conflict, "guard %q is pinned for %s: name it too, or unpin the guard first", o.ID, pattern)
		}
	}
	return o.agrees(before.Guard, "unpin it first")
}

// Same reports whether two guards require the same.
func (g Guard) Same(other Guard) bool {
	return g.ID == other.ID && slices.Equal(g.Events, other.Events) && g.Priority == other.Priority && g.Match == other.Match
}

// agrees returns an error with code 409 if two guards with the same id can't both be in force.
func (g Guard) agrees(other Guard, remedy string) error {
	switch {
	case g.Priority != other.Priority:
		return wire.Errorf(wire.Conflict, "guard %q is pinned at priority %d, not %d: %s", g.ID, other.Priority, g.Priority, remedy)
	case g.Match != other.Match:
		return wire.Errorf(wire.Conflict, "guard %q is pinned with the match %q, not %q: %s", g.ID, other.Match, g.Match, remedy)
	}
	return nil
}

// Ordered returns the guards of orders. If one of them can't be read, [Guards.InForce] rejects all
// events.
func Ordered(orders []Order) *Guards {
	g, _ := New()
	s := g.now.Load()
	for _, o := range orders {
		if o.Guard.Check() != nil {
			s.broken = o.ID
			continue
		}
		s.add(o.Guard)
	}
	return g
}
