package event

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// ExplainCmd is `hookctl explain`.
type ExplainCmd struct{ eventArgs }

// explained is the JSON form of an explanation.
type explained struct {
	Event string              `json:"event"`
	Hooks []agent.Explanation `json:"hooks"`
}

// Run explains an event.
func (c *ExplainCmd) Run(ctx context.Context, e *cli.Env) error {
	a, data, err := c.open(ctx, e, agent.Options{})
	if err != nil {
		return err
	}
	hooks, err := a.Explain(ctx, c.Event, data)
	if err != nil {
		return err
	}
	switch {
	case e.Out.Document(explained{c.Event, append([]agent.Explanation{}, hooks...)}):
	case len(hooks) == 0:
		e.Out.Print("no hook wants %s; `hookctl handlers` lists what is registered\n", term.Clean(c.Event))
	default:
		rows := [][]term.Cell{term.Heads("#", "HOOK", "IS", "TIMEOUT", "ON FAILURE", "INSTANCES", "MATCH")}
		for i, h := range hooks {
			timeout := (time.Duration(h.TimeoutMS) * time.Millisecond).String()
			rows = append(rows, term.Row(term.Dim.Cell(strconv.Itoa(i+1)), term.Cyan.Cell(h.ID), fate(h), timeout, cli.OnFailure(h.OnFailure), h.Instances, term.Clip(h.Match, term.MaxValue)))
		}
		e.Out.Table(rows)
	}
	return nil
}

// fate says what would become of a hook.
func fate(h agent.Explanation) term.Cell {
	switch {
	case h.MatchError != "":
		return term.Red.Cell("failing: " + h.MatchError)
	case !h.Matches:
		return term.Dim.Cell("skipped by match")
	case h.Mode == chain.Observe:
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
