package people

import (
	"fmt"
	"slices"

	"github.com/hookrouter/hookrouter/pkg/chain"
)

// tally assigns a place to each person who allows. A group has as many places as people who must
// allow, and a person takes only one place.
type tally struct {
	places []string // the group of each
	taken  []string // person in each place; empty if it is free
	people []string // with a place, in order of arrival
}

func newTally(a *chain.Approval) tally {
	var t tally
	for _, g := range a.Approvers {
		for range g.People() {
			t.places = append(t.places, g.Group)
		}
	}
	t.taken = make([]string, len(t.places))
	return t
}

// add assigns a place to a person, and reassigns others if that makes room. It reports whether it
// found a place.
func (t *tally) add(person string, groups map[string]map[string]bool) bool {
	if slices.Contains(t.people, person) || !t.place(person, groups, make([]bool, len(t.places))) {
		return false
	}
	t.people = append(t.people, person)
	return true
}

// place finds an augmenting path. tried marks the places on it.
func (t *tally) place(person string, groups map[string]map[string]bool, tried []bool) bool {
	for i, group := range t.places {
		if tried[i] || !groups[group][person] {
			continue
		}
		tried[i] = true
		if t.taken[i] == "" || t.place(t.taken[i], groups, tried) {
			t.taken[i] = person
			return true
		}
	}
	return false
}

// missing returns the groups with free places, such as "1 of security".
func (t *tally) missing() (list []string) {
	for i := 0; i < len(t.places); {
		group, n := t.places[i], 0
		for ; i < len(t.places) && t.places[i] == group; i++ {
			if t.taken[i] == "" {
				n++
			}
		}
		if n > 0 {
			list = append(list, fmt.Sprintf("%d of %s", n, group))
		}
	}
	return list
}
