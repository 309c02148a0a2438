package pinned

import (
	"slices"
	"time"

	"github.com/hookrouter/hookrouter/internal/wire"
)

// Order is an operator's order that pins a guard.
type Order struct {
	Guard
	By   string    `json:"by,omitempty"` // the operator, as far as the connection proves
	Time time.Time `json:"time"`
}

// Check refuses, with code 409, an order that replaces another and asks for less or for something
// else: pinning takes nothing back.
func (o Order) Check(before Order) error {
	for _, pattern := range before.Events {
		if !slices.ContainsFunc(o.Events, func(has string) bool { return covers(has, pattern) }) {
			return wire.Errorf(wire.Conflict, "guard %q is pinned for %s: name it too, or unpin the guard first", o.ID, pattern)
		}
	}
	return o.agrees(before.Guard, "unpin it first")
}

// Same reports whether two guards ask for the same.
func (g Guard) Same(other Guard) bool {
	return g.ID == other.ID && slices.Equal(g.Events, other.Events) && g.Priority == other.Priority && g.Match == other.Match
}

// agrees refuses, with code 409, a guard that can't be in force beside another with its id.
func (g Guard) agrees(other Guard, remedy string) error {
	switch {
	case g.Priority != other.Priority:
		return wire.Errorf(wire.Conflict, "guard %q is pinned at priority %d, not %d: %s", g.ID, other.Priority, g.Priority, remedy)
	case g.Match != other.Match:
		return wire.Errorf(wire.Conflict, "guard %q is pinned with the match %q, not %q: %s", g.ID, other.Match, g.Match, remedy)
	}
	return nil
}

// Ordered returns the guards of orders. While one of them can't be read, no event passes.
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
