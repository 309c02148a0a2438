package main

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

type handlersCmd struct {
	Pattern string `arg:"" optional:"" help:"Only what was registered for exactly this pattern, such as tool:* or tool:pre."`
}

// Run lists handlers.
func (c *handlersCmd) Run(ctx context.Context, e *env) error {
	if c.Pattern != "" {
		if err := events.CheckPattern(c.Pattern); err != nil {
			return err
		}
	}
	a, closeBus, err := e.agent(ctx, "")
	if err != nil {
		return err
	}
	defer closeBus()
	handlers, err := a.ListHandlers(ctx, c.Pattern)
	if err != nil {
		return err
	}
	switch {
	case e.out.json:
		e.out.document(handlers)
	case len(handlers) == 0:
		e.out.print("no hooks\n")
	default:
		rows := [][]cell{heads("PATTERN", "HOOKS IN EXECUTION ORDER")}
		for _, pattern := range slices.Sorted(maps.Keys(handlers)) {
			rows = append(rows, []cell{{pattern, cyan}, {strings.Join(handlers[pattern], ", "), plain}})
		}
		e.out.table(rows)
	}
	return nil
}

type registryCmd struct{}

// Run lists registrations.
func (c *registryCmd) Run(ctx context.Context, e *env) error {
	a, closeBus, err := e.agent(ctx, "")
	if err != nil {
		return err
	}
	defer closeBus()
	list, err := a.Registry(ctx)
	if err != nil {
		return err
	}
	switch {
	case e.out.json:
		if list == nil {
			list = []agent.Listing{}
		}
		e.out.document(list)
	case len(list) == 0:
		e.out.print("no hooks are registered; `hookctl hook add --help` shows how to add one\n")
	default:
		rows := [][]cell{heads("ID", "ON", "PRIORITY", "MODE", "TIMEOUT", "ON FAILURE", "INSTANCES", "SESSION", "MATCH")}
		for _, l := range list {
			rows = append(rows, listingRow(l))
		}
		e.out.table(rows)
	}
	return nil
}

func listingRow(l agent.Listing) []cell {
	on, priority := strings.Join(l.Events, ","), strconv.Itoa(l.Priority)
	if len(l.Channels) > 0 {
		on, priority = "channel "+strings.Join(l.Channels, ","), "-"
	}
	instances := cell{strconv.Itoa(len(l.Instances)), plain}
	if len(l.Instances) == 0 {
		instances.color = yellow
	}
	session := l.SessionID
	if session == "" {
		session = "-"
	}
	return []cell{
		{l.ID, cyan},
		{on, plain},
		{priority, plain},
		{string(l.Mode), plain},
		{l.Timeout().String(), plain},
		policy(l.OnFailure),
		instances,
		{session, plain},
		{clip(l.Match, maxValue), plain},
	}
}

func policy(p chain.Policy) cell {
	if p == chain.FailClosed {
		return cell{string(p), red}
	}
	return cell{string(p), plain}
}

type explainCmd struct{ eventArgs }

// explained is the JSON form of an explanation.
type explained struct {
	Event string              `json:"event"`
	Hooks []agent.Explanation `json:"hooks"`
}

// Run explains an event.
func (c *explainCmd) Run(ctx context.Context, e *env) error {
	data, err := c.data(e.stdin)
	if err != nil {
		return err
	}
	if err := events.CheckName(c.Event); err != nil {
		return err
	}
	a, closeBus, err := e.agent(ctx, c.Session)
	if err != nil {
		return err
	}
	defer closeBus()
	hooks, err := a.Explain(ctx, c.Event, data)
	if err != nil {
		return err
	}
	switch {
	case e.out.json:
		if hooks == nil {
			hooks = []agent.Explanation{}
		}
		e.out.document(explained{c.Event, hooks})
	case len(hooks) == 0:
		e.out.print("no hook wants %s; `hookctl handlers` lists what is registered\n", clean(c.Event))
	default:
		rows := [][]cell{heads("#", "HOOK", "IS", "TIMEOUT", "ON FAILURE", "INSTANCES", "MATCH")}
		for i, h := range hooks {
			timeout := (time.Duration(h.TimeoutMS) * time.Millisecond).String()
			rows = append(rows, []cell{
				{strconv.Itoa(i + 1), dim},
				{h.ID, cyan},
				fate(h),
				{timeout, plain},
				policy(h.OnFailure),
				{strconv.Itoa(h.Instances), plain},
				{clip(h.Match, maxValue), plain},
			})
		}
		e.out.table(rows)
	}
	return nil
}

// fate says what would become of a hook.
func fate(h agent.Explanation) cell {
	switch {
	case h.MatchError != "":
		return cell{"failing: " + h.MatchError, red}
	case !h.Matches:
		return cell{"skipped by match", dim}
	case h.Mode == chain.Observe:
		return cell{"told afterwards", plain}
	case h.Instances == 0:
		return cell{"failing: no instance", red}
	case h.Mode == chain.Shadow:
		return cell{"called beside (shadow)", plain}
	}
	return cell{"called", green}
}
