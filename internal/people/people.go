package people

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// People is the content of a file. A nil *People knows nobody. It is safe for concurrent use.
type People struct {
	now atomic.Pointer[set]
}

// set is immutable.
type set struct {
	people  map[string]string          // by the identities that they answer with
	senders map[string]string          // people by the identities that send their events
	models  map[string]bool            // identities
	groups  map[string]map[string]bool // people by group
	needs   []need
}

func newSet() *set {
	return &set{map[string]string{}, map[string]string{}, map[string]bool{}, map[string]map[string]bool{}, nil}
}

func of(s *set) *People {
	p := &People{}
	p.now.Store(s)
	return p
}

// Replace replaces the content with that of another file, for all later answers.
func (p *People) Replace(other *People) { p.now.Store(other.now.Load()) }

func (p *People) current() *set {
	if p == nil {
		return &set{}
	}
	return p.now.Load()
}

// Person returns the person with an identity; empty if the file names none.
func (p *People) Person(identity string) string { return p.current().people[identity] }

// Model reports whether an identity belongs to a model.
func (p *People) Model(identity string) bool { return p.current().models[identity] }

// Needs returns the approval that the file requires for a hook's question about an event, in
// addition to what the hook requires; nil if none.
func (p *People) Needs(hook, event string) *chain.Approval {
	var list []*chain.Approval
	for _, n := range p.current().needs {
		if approval.Glob(n.Hook, hook) && (n.Event == "" || approval.Glob(n.Event, event)) {
			list = append(list, n.approval())
		}
	}
	return chain.Stricter(list...)
}

// Impossible returns the reason why an approval of sender's request is impossible; empty if there
// are enough people.
func (p *People) Impossible(a *chain.Approval, sender string) string {
	if a.ExcludeRequester && sender == "" {
		return "the sender of the event is not proven, so that nobody can be excluded as its requester"
	}
	return p.current().impossible(a, sender)
}

func (s *set) impossible(a *chain.Approval, sender string) string {
	for _, g := range a.Approvers {
		if _, known := s.groups[g.Group]; !known {
			return fmt.Sprintf("the router knows no group %q (--approval-groups)", g.Group)
		}
	}
	t := newTally(a)
	for _, person := range slices.Sorted(maps.Values(s.people)) {
		if s.excluded(a, sender, "", person) == "" {
			t.add(person, s.groups)
		}
	}
	if missing := t.missing(); len(missing) > 0 {
		return "there are not enough people who may allow: missing " + strings.Join(missing, ", ")
	}
	return ""
}

// excluded returns the reason why a person's approval of sender's request does not count; empty if
// it counts.
func (s *set) excluded(a *chain.Approval, sender, identity, person string) string {
	switch {
	case person == "":
		return fmt.Sprintf("%q is not a known person (--approval-groups)", identity)
	case !a.ExcludeRequester:
		return ""
	case identity != "" && identity == sender, s.senders[sender] == person:
		return person + " asks for it, and nobody approves what they asked for themselves"
	}
	return ""
}

// CountApproval adds the approval of an identity to earlier ones. progress describes the result for
// people, and done reports whether the approvals suffice. The error says why the new approval does
// not count. An empty identity adds nothing.
func (p *People) CountApproval(a *chain.Approval, sender string, earlier []string, identity string) (progress string, done bool, err error) {
	s := p.current()
	t := newTally(a)
	for _, before := range earlier {
		if person := s.people[before]; s.excluded(a, sender, before, person) == "" {
			t.add(person, s.groups)
		}
	}
	if identity != "" {
		if err := s.count(&t, a, sender, identity); err != nil {
			return "", false, err
		}
	}
	missing := t.missing()
	progress = fmt.Sprintf("%d of %d", len(t.people), a.People())
	if len(t.people) > 0 {
		progress += ": " + strings.Join(t.people, ", ") + " allowed"
	}
	if len(missing) > 0 {
		progress += "; needs " + strings.Join(missing, ", ")
	}
	return progress, len(missing) == 0, nil
}

// count adds an approval, or returns an error that says why it does not count.
func (s *set) count(t *tally, a *chain.Approval, sender, identity string) error {
	person := s.people[identity]
	why := s.excluded(a, sender, identity, person)
	in := slices.ContainsFunc(a.Approvers, func(g chain.Approvers) bool { return s.groups[g.Group][person] })
	missing := strings.Join(t.missing(), ", ")
	switch {
	case a.ExcludeRequester && sender == "":
		return wire.Errorf(wire.Forbidden, "your approval does not count: the sender of the event is not proven, so that nobody can be excluded as its requester")
	case why != "":
		return wire.Errorf(wire.Forbidden, "your approval does not count: %s; it needs %s", why, missing)
	case slices.Contains(t.people, person):
		return wire.Errorf(wire.Conflict, "%s has allowed already, and counts once; it needs %s", person, missing)
	case !in:
		return wire.Errorf(wire.Forbidden, "your approval does not count: %s is in none of the groups; it needs %s", person, missing)
	case !t.add(person, s.groups):
		return wire.Errorf(wire.Conflict, "enough people of the groups of %s have allowed; it needs %s", person, missing)
	}
	return nil
}
