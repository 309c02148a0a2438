package dispatch

import (
	"cmp"

	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// Explain returns the hooks that an event would pass, in order, without calling them. instances
// returns the number of live instances of a hook.
func (d *Dispatcher) Explain(req Request, instances func(id string) int) (x Explained, err error) {
	table, err := d.hooks.Table()
	if err != nil {
		return x, err
	}
	ev, err := d.stamp(req)
	if err != nil {
		return x, err
	}
	ev.Data = req.Object.Over(req.Defaults, events.Now())
	view := chain.ViewOf(ev)
	x.Hooks = []chain.Explanation{}
	for _, entry := range table.For(ev.Name, ev.Session) {
		x.Hooks = append(x.Hooks, explain(entry, view, instances(entry.ID)))
	}
	group(x.Hooks)
	x.timeouts(min(cmp.Or(req.Timeout, d.opts.ChainTimeout), d.opts.ChainTimeout))
	return x, nil
}

// group numbers the hooks that [chain.Run] would call concurrently.
func group(list []chain.Explanation) {
	n := 0
	var open []int // indexes of adjacent validating hooks
	for i, e := range list {
		switch {
		case e.Mode != chain.Enforce:
		case e.Effect != chain.Validates:
			open = nil
		case e.Matches && e.MatchError == "":
			if open = append(open, i); len(open) == 2 {
				n++
				list[open[0]].Group = n
			}
			if len(open) > 1 {
				list[i].Group = n
			}
		}
	}
}

func explain(entry *chain.Entry, view *chain.View, instances int) chain.Explanation {
	reg := entry.WithDefaults()
	e := chain.Explanation{
		ID: reg.ID, Name: reg.Name, Events: reg.Events, Priority: reg.Priority, Mode: reg.Mode, Match: reg.Match,
		Matches: true, TimeoutMS: reg.TimeoutMS, OnFailure: reg.OnFailure, SessionID: reg.SessionID, Effect: reg.Effect, Instances: instances,
	}
	if entry.Condition != nil {
		var err error
		if e.Matches, err = entry.Condition(view); err != nil {
			e.MatchError = err.Error()
		}
	}
	return e
}
