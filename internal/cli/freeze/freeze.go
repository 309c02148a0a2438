package freeze

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/internal/freeze"
)

// scope is the set of flags that select what to freeze or thaw.
type scope struct {
	All     bool   `xor:"scope" json:"all,omitempty" help:"Everything."`
	Agent   string `xor:"scope" json:"agent,omitempty" placeholder:"NAME" help:"One agent: who the connection proves it is, or else who it claims to be; \"coder\" is also AGENTS/coder and /agents/coder."`
	Session string `xor:"scope" json:"session_id,omitempty" placeholder:"ID" help:"One session; the agent can begin another."`
}

// String names the scope in a sentence.
func (s scope) String() string {
	switch {
	case s.Agent != "":
		return "agent " + term.Printable(s.Agent)
	case s.Session != "":
		return "session " + term.Printable(s.Session)
	}
	return "everything"
}

// Cmd is `hookctl freeze`.
type Cmd struct {
	scope  `embed:""`
	Reason string `placeholder:"TEXT" help:"Why; agents are told."`
}

// Help describes the effect.
func (c *Cmd) Help() string {
	return "When it returns, no router permits anything in the scope, whatever a grant, an answer to an approval request or a chain under way says. " +
		"Tools that already run, and what was permitted before, are not stopped. An agent without a proven identity can claim another name, and any agent can begin another session: freeze the agent, or all. " +
		"Without a scope it lists what is frozen."
}

// Run freezes the scope. Without a scope it lists what is frozen.
func (c *Cmd) Run(ctx context.Context, e *cli.Env) error {
	if c.scope == (scope{}) {
		if c.Reason != "" {
			return errors.New("freeze: name a scope: --all, --agent NAME or --session ID")
		}
		return list(ctx, e)
	}
	if c.Reason == "" {
		return errors.New("freeze: give a --reason, which agents are told")
	}
	var order freeze.Order
	body := struct {
		scope
		Reason string `json:"reason"`
	}{c.scope, c.Reason}
	if err := e.Order(ctx, body, &order, "freeze"); err != nil {
		return fmt.Errorf("freeze %s: %w", c.scope, err)
	}
	if !e.Out.Document(order) {
		e.Out.Print("frozen: %s\nNo new action is permitted. Tools that already run are not stopped.\n", c.scope)
	}
	return nil
}

func list(ctx context.Context, e *cli.Env) error {
	var orders []freeze.Order
	if err := e.Order(ctx, nil, &orders, "frozen"); err != nil {
		return fmt.Errorf("list what is frozen: %w", err)
	}
	switch {
	case e.Out.Document(orders):
	case len(orders) == 0:
		e.Out.Print("nothing is frozen\n")
	default:
		rows := [][]term.Cell{term.Heads("FROZEN", "SINCE", "BY", "REASON")}
		for _, o := range orders {
			what := scope{Agent: o.Agent, Session: o.Session}
			rows = append(rows, term.Row(what.String(), o.Time.Format(time.RFC3339), term.OrDash(term.Printable(o.By)), term.Printable(o.Reason)))
		}
		e.Out.Table(rows)
	}
	return nil
}

// ThawCmd is `hookctl thaw`.
type ThawCmd struct {
	scope `embed:""`
}

// Help describes the effect.
func (c *ThawCmd) Help() string {
	return "It lifts the order for exactly this scope: --all leaves agents and sessions that were frozen by name frozen."
}

// Run thaws the scope.
func (c *ThawCmd) Run(ctx context.Context, e *cli.Env) error {
	if c.scope == (scope{}) {
		return errors.New("thaw: name a scope: --all, --agent NAME or --session ID; `hookctl freeze` lists what is frozen")
	}
	var done struct {
		Thawed bool `json:"thawed"`
	}
	err := e.Order(ctx, c.scope, &done, "thaw")
	switch {
	case err != nil:
		return fmt.Errorf("thaw %s: %w", c.scope, err)
	case e.Out.Document(done):
	case done.Thawed:
		e.Out.Print("thawed: %s\n", c.scope)
	default:
		e.Out.Print("no order freezes %s; `hookctl freeze` lists what is frozen\n", c.scope)
	}
	return nil
}
