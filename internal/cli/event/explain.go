package event

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/agenthook"
	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// ExplainCmd is `hookctl explain`.
type ExplainCmd struct {
	eventArgs
	Agent string `placeholder:"NAME" help:"Agent that would send it, such as claude-code: warn if it waits for less than the hooks may take."`
}

// explained is the JSON form of an explanation.
type explained struct {
	Event string `json:"event"`
	agent.Explained
	Disabled []disabled `json:"disabled,omitempty"`
}

// disabled is a hook that matches the event and that an operator has disabled.
type disabled struct {
	ID string `json:"id"`
	agent.Disabled
}

// Run explains an event.
func (c *ExplainCmd) Run(ctx context.Context, e *cli.Env) error {
	a, data, err := c.open(ctx, e, agent.Options{})
	if err != nil {
		return err
	}
	waits, err := c.waits()
	if err != nil {
		return err
	}
	x, err := a.ExplainChain(ctx, c.Event, data)
	if err != nil {
		return err
	}
	if worst := time.Duration(x.WorstMS) * time.Millisecond; waits > 0 && waits <= worst {
		x.Warnings = append(x.Warnings, fmt.Sprintf("the hooks may take %s, and %s is told to block after %s", worst, c.Agent, waits))
	}
	off, err := c.disabled(ctx, a)
	if err != nil {
		return err
	}
	x.Hooks = append([]agent.Explanation{}, x.Hooks...)
	switch {
	case e.Out.Document(explained{c.Event, x, off}):
	case len(x.Hooks)+len(off) == 0:
		e.Out.Print("no hook wants %s; `hookctl handlers` lists what is registered\n", term.Clean(c.Event))
	default:
		e.Out.Table(rows(x.Hooks, off))
		for _, w := range x.Warnings {
			e.Out.Fold(e.Out.Paint(term.Yellow, "time-outs: "+term.Clean(w)))
		}
	}
	return nil
}

// disabled returns the disabled hooks that would handle the event.
func (c *ExplainCmd) disabled(ctx context.Context, a *agent.Agent) (list []disabled, err error) {
	all, err := a.Registry(ctx)
	for _, l := range all {
		wants := func(pattern string) bool { return events.Match(pattern, c.Event) }
		if l.Disabled != nil && slices.ContainsFunc(l.Events, wants) && (l.SessionID == "" || l.SessionID == c.Session) {
			list = append(list, disabled{l.ID, *l.Disabled})
		}
	}
	return list, err
}

// rows returns the table: the hooks in order, then the disabled ones.
func rows(hooks []agent.Explanation, off []disabled) [][]term.Cell {
	heads := []string{"#", "HOOK", "TIMEOUT", "ON FAILURE", "INSTANCES", "IS"}
	matches := slices.ContainsFunc(hooks, func(h agent.Explanation) bool { return h.Match != "" })
	if matches {
		heads = append(heads, "MATCH")
	}
	rows := [][]term.Cell{term.Heads(heads...)}
	for i, h := range hooks {
		timeout := (time.Duration(h.TimeoutMS) * time.Millisecond).String()
		cells := []any{term.Dim.Cell(strconv.Itoa(i + 1)), term.Cyan.Cell(h.ID), timeout, cli.OnFailure(h.OnFailure), h.Instances, fate(h)}
		if matches {
			cells = append(cells, term.Clip(h.Match, term.MaxValue))
		}
		rows = append(rows, term.Row(cells...))
	}
	for _, d := range off {
		why := slices.DeleteFunc([]string{term.Printable(d.By), term.Printable(d.Reason)}, func(text string) bool { return text == "" })
		is := "disabled"
		if len(why) > 0 {
			is += " (" + strings.Join(why, ", ") + ")"
		}
		rows = append(rows, term.Row("", term.Cyan.Cell(d.ID), "", "", "", term.Yellow.Cell(is)))
	}
	return rows
}

// waits returns how long hook-agent waits for a verdict on the event on behalf of the agent, or 0
// without an agent.
func (c *ExplainCmd) waits() (shortest time.Duration, err error) {
	if c.Agent == "" {
		return 0, nil
	}
	dialect, known := agenthook.Find(c.Agent)
	if !known {
		var names []string
		for _, d := range agenthook.Dialects() {
			names = append(names, d.Name)
		}
		return 0, fmt.Errorf("explain: no agent %s is known; there are %s", c.Agent, strings.Join(names, ", "))
	}
	for _, e := range dialect.Events {
		if own := dialect.Waits(e); e.Name == c.Event && (shortest == 0 || own < shortest) {
			shortest = own
		}
	}
	if shortest == 0 {
		return 0, fmt.Errorf("explain: %s sends no %s", c.Agent, c.Event)
	}
	return shortest, nil
}

// fate returns what would happen to a hook.
func fate(h agent.Explanation) term.Cell {
	switch {
	case h.MatchError != "":
		return term.Red.Cell("failing: " + h.MatchError)
	case !h.Matches:
		return term.Dim.Cell("skipped by match")
	case h.Mode == chain.Observe || h.Mode == chain.Async:
		return term.Plain.Cell("called afterwards")
	case h.Instances == 0:
		return term.Red.Cell("failing: no instance")
	case h.Mode == chain.Shadow:
		return term.Plain.Cell("called beside (shadow)")
	}
	if h.Group > 0 {
		return term.Green.Cell(fmt.Sprintf("called in group %d", h.Group))
	}
	return term.Green.Cell("called")
}
