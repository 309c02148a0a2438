package pinned

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// Guard is one pinned guard.
type Guard struct {
	ID       string   `json:"id"`
	Events   []string `json:"events"` // patterns, as in a registration
	Priority int      `json:"priority"`
	Match    string   `json:"match,omitempty"` // as in its registration; empty means always
}

// Guards holds pinned guards. A nil *Guards holds none. It is safe for concurrent use.
type Guards struct {
	now atomic.Pointer[set]
}

// set is immutable.
type set struct {
	byID   map[string]Guard
	index  *chain.Table // looks up the guards of an event
	broken string       // id of a guard that can't be read; empty if there is none
}

// New returns Guards with a list, or an error if one of them is invalid.
func New(list ...Guard) (*Guards, error) {
	s := &set{byID: map[string]Guard{}, index: &chain.Table{}}
	for _, guard := range list {
		if err := guard.Check(); err != nil {
			return nil, err
		}
		if _, twice := s.byID[guard.ID]; twice {
			return nil, fmt.Errorf("guard %q is pinned twice", guard.ID)
		}
		s.add(guard)
	}
	g := &Guards{}
	g.now.Store(s)
	return g, nil
}

func (s *set) add(guard Guard) {
	s.byID[guard.ID] = guard
	s.index = s.index.Apply(chain.Change{ID: guard.ID, Entry: &chain.Entry{
		Registration: chain.Registration{ID: guard.ID, Events: guard.Events, Priority: guard.Priority},
	}})
}

// Replace replaces the guards, for events that are admitted later.
func (g *Guards) Replace(other *Guards) { g.now.Store(other.now.Load()) }

// Check returns an error unless the guard is valid.
func (g Guard) Check() error {
	if err := events.CheckHookID(g.ID); err != nil {
		return err
	}
	if len(g.Events) == 0 {
		return fmt.Errorf("guard %q: events are missing", g.ID)
	}
	for _, pattern := range g.Events {
		if err := events.CheckPattern(pattern); err != nil {
			return fmt.Errorf("guard %q: %w", g.ID, err)
		}
	}
	return nil
}

// InForce returns the entries of the guards of an event in execution order, or an error with code
// 503 if one is not in force.
func (g *Guards) InForce(event string, t *chain.Table) ([]*chain.Entry, error) {
	if g == nil {
		return nil, nil
	}
	s := g.now.Load()
	if s.broken != "" {
		return nil, wire.Errorf(wire.Unavailable, "guard %[1]q is pinned by an order that can't be read: run `hookctl guard unpin %[1]s` and pin it again", s.broken)
	}
	if len(s.byID) == 0 {
		return nil, nil
	}
	var list []*chain.Entry
	for _, pin := range s.index.For(event, "") {
		entry := t.Get(pin.ID)
		if entry == nil {
			return nil, wire.Errorf(wire.Unavailable, "guard %q is pinned for %s and not registered, or disabled: start its worker, or enable it", pin.ID, event)
		}
		if why := s.byID[pin.ID].weaker(entry.Registration); why != "" {
			return nil, wire.Errorf(wire.Unavailable, "guard %q is pinned for %s and its registration is weaker: %s", pin.ID, event, why)
		}
		list = append(list, entry)
	}
	return list, nil
}

// CheckRegistration returns an error with code 403 if a registration has the id of a pinned guard
// and is weaker.
func (g *Guards) CheckRegistration(r chain.Registration) error {
	if g == nil {
		return nil
	}
	pin, pinned := g.now.Load().byID[r.ID]
	if !pinned {
		return nil
	}
	if why := pin.weaker(r); why != "" {
		return wire.Errorf(wire.Forbidden, "hook %q is a pinned guard: %s. Only the operator may change that, with --guards or `hookctl guard`", r.ID, why)
	}
	return nil
}

// CheckRemoval returns an error with code 403 if the hook is a pinned guard.
func (g *Guards) CheckRemoval(id string) error {
	if g == nil {
		return nil
	}
	if _, pinned := g.now.Load().byID[id]; pinned {
		return wire.Errorf(wire.Forbidden, "hook %q is a pinned guard: an operator must unpin it first, with `hookctl guard unpin` or in the file that pins it (--guards, or the policy of hook-router up)", id)
	}
	return nil
}

// find returns the guard with an id.
func (g *Guards) find(id string) (guard Guard, found bool) {
	if g != nil {
		guard, found = g.now.Load().byID[id]
	}
	return guard, found
}

// list returns the guards, sorted by id.
func (g *Guards) list() []Guard {
	if g == nil {
		return nil
	}
	return slices.SortedFunc(maps.Values(g.now.Load().byID), func(a, b Guard) int { return cmp.Compare(a.ID, b.ID) })
}

// weaker returns what a registration lacks to satisfy the guard; empty for nothing.
func (g Guard) weaker(r chain.Registration) string {
	for _, pattern := range g.Events {
		if !slices.ContainsFunc(r.Events, func(has string) bool { return covers(has, pattern) }) {
			return fmt.Sprintf("its events must include %s", pattern)
		}
	}
	switch {
	case !r.Enforced():
		return fmt.Sprintf("its mode is %s, not %s", r.Mode, chain.Enforce)
	case r.OnFailure != chain.FailClosed:
		return fmt.Sprintf("its on_failure is %s, not %s", cmp.Or(r.OnFailure, chain.FailOpen), chain.FailClosed)
	case !r.StaysRegistered():
		return "it is not durable"
	case r.SessionID != "":
		return "it is for one session"
	case r.Priority != g.Priority:
		return fmt.Sprintf("its priority is %d, not %d", r.Priority, g.Priority)
	case r.Match != g.Match:
		return fmt.Sprintf("its match is %q, not %q", r.Match, g.Match)
	}
	return ""
}

// covers reports whether a pattern matches everything that another one matches.
func covers(pattern, other string) bool {
	if domain, isDomain := strings.CutSuffix(pattern, "*"); isDomain { // "*" or "domain:*"
		return strings.HasPrefix(other, domain)
	}
	return !strings.HasSuffix(other, "*") && events.Canonical(pattern) == events.Canonical(other)
}
