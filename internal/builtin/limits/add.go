package limits

import (
	"context"
	"slices"

	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// countAll adds the use to the counts of all rules, or to none if a limit denies it. With
// concurrent calls, a denied call may still have counted for its own session or identity.
func (l limiter) countAll(ctx context.Context, u use) (stops chain.Result, err error) {
	states := l.perState(u)
	check := u
	check.checkOnly = true
	for i := 1; i < len(states) && !u.past; i++ { // the first state is checked as it is counted
		if stop, err := l.count(ctx, states[i], check); stop.Denied() || err != nil {
			return stop, err
		}
	}
	for _, one := range states {
		stop, err := l.count(ctx, one, u)
		if stop.Denied() || err != nil {
			return stop, err
		}
		if stop.Action != "" {
			stops = stop
		}
	}
	return stops, nil
}

// stateRules are the rules whose counts for an event are in the same state.
type stateRules struct {
	state string
	rules []rule
}

// perState groups the rules that apply to an event by the state of their counts. The states of the
// event's own session, tree or identity come first: a call that their rules deny must not use up
// shared limits.
func (l limiter) perState(u use) (states []stateRules) {
	for _, own := range [...]bool{true, false} {
		for _, r := range l.rules {
			if r.own() != own || !u.isTool && r.Tokens == 0 && r.Cost == 0 || u.isTool && len(r.Tools) > 0 && !r.Tools.Match(u.tool) {
				continue
			}
			state, _ := r.key(u.ev, u.tool)
			i := slices.IndexFunc(states, func(s stateRules) bool { return s.state == state })
			if i < 0 {
				i, states = len(states), append(states, stateRules{state: state})
			}
			states[i].rules = append(states[i].rules, r)
		}
	}
	return states
}

// count adds the use to the counts of one state, unless a limit denies it.
func (l limiter) count(ctx context.Context, of stateRules, u use) (stop chain.Result, err error) {
	rules := of.rules
	states := l.states.By(u.ev.Extensions[events.AttrEmitter]) // which may choose any source and tool
	clock, err := l.clock(ctx)                                 // before the update, which blocks others
	if err != nil {
		return chain.Result{}, err
	}
	err = states.Update(ctx, of.state, func(b *book) bool {
		stop = chain.Result{}
		if *b == nil {
			*b = book{}
		}
		now := clock()
		counts := make([]*count, len(rules))
		for i, r := range rules {
			_, entry := r.key(u.ev, u.tool)
			counts[i] = b.of(entry, r, now)
			if total := counts[i].sum(); !u.past && !stop.Denied() {
				total.add(u.asked)
				if what := r.over(total.Calls, total.Tokens, total.Cost); what != "" {
					stop = r.stop(what, *counts[i], u.asked, now)
				}
			}
		}
		if stop.Denied() || u.checkOnly || u.asked == (slot{}) {
			return false
		}
		for i, r := range rules {
			counts[i].add(u.asked, r.within, now)
		}
		return true
	})
	return stop, err
}
