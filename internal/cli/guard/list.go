package guard

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/internal/pinned"
)

// Cmd is `hookctl guard`.
type Cmd struct {
	List  listCmd  `cmd:"" default:"1" help:"List the guards that are pinned, and whether they are in force; the default."`
	Pin   pinCmd   `cmd:"" help:"Pin a guard: no event of it passes without it, and no worker can weaken it."`
	Unpin unpinCmd `cmd:"" help:"Lift the order that pinned a guard."`
}

type listCmd struct{}

// Help describes the output.
func (c *listCmd) Help() string {
	return "Guards from a file are those of the router that answers: each reads its own."
}

// Run lists the guards.
func (c *listCmd) Run(ctx context.Context, e *cli.Env) error {
	list, err := List(ctx, e)
	if err != nil {
		return err
	}
	switch {
	case e.Out.Document(list):
	case len(list) == 0:
		e.Out.Print("no guard is pinned\n")
	default:
		rows := [][]term.Cell{term.Heads("GUARD", "EVENTS", "PRIORITY", "MATCH", "FROM", "IN FORCE")}
		for _, g := range list {
			from := g.From
			if g.By != "" {
				from += " of " + term.Printable(g.By)
			}
			rows = append(rows, term.Row(term.Printable(g.ID), term.Printable(strings.Join(g.Events, " ")), strconv.Itoa(g.Priority), term.OrDash(term.Printable(g.Match)), from, inForce(g)))
		}
		e.Out.Table(rows)
	}
	return nil
}

// List requests the pinned guards from a router.
func List(ctx context.Context, e *cli.Env) (list []pinned.Listing, err error) {
	if err := e.Order(ctx, nil, &list, "guards"); err != nil {
		return nil, fmt.Errorf("list the pinned guards: %w", err)
	}
	return list, nil
}

func inForce(g pinned.Listing) string {
	if g.InForce {
		return "yes"
	}
	return "no: " + term.Printable(g.Why)
}
