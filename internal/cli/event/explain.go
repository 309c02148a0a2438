package event

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/hookrouter/hookrouter/internal/agenthook"
	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/chain"
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
	x.Hooks = append([]agent.Explanation{}, x.Hooks...)
	hooks := x.Hooks
	switch {
	case e.Out.Document(explained{c.Event, x}):
	case len(hooks) == 0:
		e.Out.Print("no hook wants %s; `hookctl handlers` lists what is registered\n", term.Clean(c.Event))
	default:
		rows := [][]term.Cell{term.Heads("#", "HOOK", "TIMEOUT", "ON FAILURE", "INSTANCES", "IS", "MATCH")}
		for i, h := range hooks {
			timeout := (time.Duration(h.TimeoutMS) * time.Millisecond).String()
			rows = append(rows, term.Row(term.Dim.Cell(strconv.Itoa(i+1)), term.Cyan.Cell(h.ID), timeout, cli.OnFailure(h.OnFailure), h.Instances, fate(h), term.Clip(h.Match, term.MaxValue)))
		}
		e.Out.Table(rows)
		for _, w := range x.Warnings {
			e.Out.Fold(e.Out.Paint(term.Yellow, "time-outs: "+term.Clean(w)))
		}
	}
	return nil
}

// waits is how long hook-agent waits for a verdict on the event for the agent; 0 for no
// agent.
func (c *ExplainCmd) waits() (shortest time.Duration, err error) {
	if c.Agent == "" {
		return 0, nil
	}
	dialect, known := agenthook.Find(c.Agent)
	if !known {
		return 0, fmt.Errorf("explain: no agent %s is known", c.Agent)
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

// fate says what would become of a hook.
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
