package suggest

import (
	"maps"
	"slices"

	"github.com/hookrouter/hookrouter/pkg/approval"
)

// Trial is the result of a rule in shadow.
type Trial struct {
	Rule      string `json:"rule"`
	Decision  string `json:"decision"`  // that it would have made
	Questions int    `json:"questions"` // approval requests that it would have answered
	Agreed    int    `json:"agreed"`    // with people who count
	Disagreed int    `json:"disagreed"` // with anybody
}

// trials returns the results of the rules in shadow, those with the most questions first.
func trials(l *Log, o Options) []Trial {
	s := suggester{log: l, o: o}
	type name struct{ rule, decision string }
	found := map[name]*Trial{}
	for _, q := range l.Questions() {
		if q.ShadowRule == "" {
			continue
		}
		n := name{q.ShadowRule, q.ShadowDecision}
		if found[n] == nil {
			found[n] = &Trial{Rule: n.rule, Decision: n.decision}
		}
		t := found[n]
		t.Questions++
		switch agrees := q.Granted == (q.ShadowDecision == approval.DefaultAllow); {
		case !q.Person():
		case !agrees:
			t.Disagreed++
		case s.proven(q):
			t.Agreed++
		}
	}
	list := []Trial{}
	for _, n := range slices.SortedFunc(maps.Keys(found), func(a, b name) int { return found[b].Questions - found[a].Questions }) {
		list = append(list, *found[n])
	}
	return list
}
