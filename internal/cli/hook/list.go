package hook

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/guard"
	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// HandlersCmd is `hookctl handlers`.
type HandlersCmd struct {
	Pattern string `arg:"" optional:"" help:"Only what was registered for exactly this pattern, such as tool:* or tool:pre."`
}

// Help describes the output.
func (c *HandlersCmd) Help() string {
	return "Text output shows ids, which other commands take. JSON output is what hooks.handlers answers: the names that people see, ids where there is none."
}

// Run lists handlers.
func (c *HandlersCmd) Run(ctx context.Context, e *cli.Env) error {
	if c.Pattern != "" {
		if err := events.CheckPattern(c.Pattern); err != nil {
			return err
		}
		e.CheckSpelling(c.Pattern)
	}
	a, err := e.Agent(ctx, agent.Options{})
	if err != nil {
		return err
	}
	if e.Out.JSON {
		handlers, err := a.ListHandlers(ctx, c.Pattern)
		if err == nil {
			e.Out.Document(handlers)
		}
		return err
	}
	handlers, err := c.ids(ctx, e, a)
	switch {
	case err != nil:
		return err
	case len(handlers) == 0:
		e.Out.Print("no hooks\n")
	default:
		rows := [][]term.Cell{term.Heads("PATTERN", "HOOKS IN EXECUTION ORDER")}
		for _, pattern := range slices.Sorted(maps.Keys(handlers)) {
			rows = append(rows, []term.Cell{term.Cyan.Cell(pattern), term.Plain.Cell(strings.Join(handlers[pattern], ", "))})
		}
		e.Out.Table(rows)
	}
	return nil
}

// ids returns hooks by pattern, with the ids that other commands take; the wire has their titles.
// It marks disabled hooks and hooks that no worker serves, and adds pinned guards that are not
// registered, whose events are denied.
func (c *HandlersCmd) ids(ctx context.Context, e *cli.Env, a *agent.Agent) (map[string][]string, error) {
	list, err := a.Registry(ctx) // in execution order
	if err != nil {
		return nil, err
	}
	guards, err := guard.List(ctx, e)
	if err != nil {
		return nil, err
	}
	handlers, registered := map[string][]string{}, map[string]bool{}
	add := func(patterns []string, name string) {
		for _, pattern := range patterns {
			if (c.Pattern == "" || c.Pattern == pattern) && !slices.Contains(handlers[pattern], name) {
				handlers[pattern] = append(handlers[pattern], name)
			}
		}
	}
	for _, l := range list {
		registered[l.ID] = true
		switch {
		case l.Disabled != nil:
			add(l.Events, l.ID+" (disabled)")
		case len(l.Instances) == 0:
			add(l.Events, l.ID+" (no worker)")
		default:
			add(l.Events, l.ID)
		}
	}
	for _, g := range guards {
		if !registered[g.ID] {
			add(g.Events, g.ID+" (pinned, no worker)")
		}
	}
	return handlers, nil
}

// RegistryCmd is `hookctl registry`.
type RegistryCmd struct {
	List   listCmd   `cmd:"" default:"1" help:"List every registration in full; the default."`
	Accept acceptCmd `cmd:"" help:"Have routers serve again though registrations were lost: with those that are there."`
}

type listCmd struct{}

// Run lists registrations.
func (c *listCmd) Run(ctx context.Context, e *cli.Env) error {
	a, err := e.Agent(ctx, agent.Options{})
	if err != nil {
		return err
	}
	list, err := a.Registry(ctx)
	if err != nil {
		return err
	}
	switch {
	case e.Out.Document(append([]agent.Listing{}, list...)):
	case len(list) == 0:
		e.Out.Print("no hooks are registered; `hookctl hook add --help` shows how to add one\n")
	default:
		rows := [][]term.Cell{term.Heads("ID", "ON", "PRIORITY", "MODE", "TIMEOUT", "ON FAILURE", "INSTANCES", "SESSION", "MATCH")}
		for _, l := range list {
			rows = append(rows, listingRow(l))
		}
		e.Out.Table(rows)
	}
	return nil
}

func listingRow(l agent.Listing) []term.Cell {
	on, priority := strings.Join(l.Events, ","), strconv.Itoa(l.Priority)
	if len(l.Channels) > 0 {
		on, priority = "channel "+strings.Join(l.Channels, ","), "-"
	}
	instances := term.Plain.Cell(strconv.Itoa(len(l.Instances)))
	if len(l.Instances) == 0 {
		instances.Color = term.Yellow
	}
	mode := string(l.Mode)
	if l.Disabled != nil {
		mode = "disabled"
	}
	return term.Row(term.Cyan.Cell(l.ID), on, priority, mode, l.Timeout().String(), cli.OnFailure(l.OnFailure), instances, term.OrDash(l.SessionID), term.Clip(l.Match, term.MaxValue))
}
