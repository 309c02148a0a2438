package guard

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/internal/pinned"
	"github.com/hookrouter/hookrouter/pkg/agent"
)

type pinCmd struct {
	ID       string   `arg:"" help:"Id of the guard's hook."`
	Events   []string `name:"event" placeholder:"PATTERN" help:"Event that needs the guard, such as tool:pre or 'tool:*'; may be given several times. Default: what the guard registered now, with its priority and match."`
	Priority int      `help:"Priority that it must have; with --event."`
	Match    string   `placeholder:"CEL" help:"Match that it must have; with --event. Default: none."`
}

// Help describes the effect.
func (c *pinCmd) Help() string {
	return "When it returns, no router admits an event that the guard is pinned for while the guard is not registered, or is registered with less; and none takes a registration that weakens it. " +
		"Guards of hook-router --guards stay pinned, whatever is ordered here. Pinning a guard again may add events, and takes nothing back: unpin it first."
}

// Run pins a guard.
func (c *pinCmd) Run(ctx context.Context, e *cli.Env) error {
	guard := pinned.Guard{ID: c.ID, Events: c.Events, Priority: c.Priority, Match: c.Match}
	if len(c.Events) == 0 {
		if c.Priority != 0 || c.Match != "" {
			return errors.New("guard pin: give --event too, or neither --priority nor --match")
		}
		var err error
		if guard, err = registered(ctx, e, c.ID); err != nil {
			return err
		}
	}
	if err := guard.Check(); err != nil {
		return fmt.Errorf("guard pin: %w", err)
	}
	for _, event := range c.Events {
		e.CheckSpelling(event)
	}
	var done pinned.Listing
	if err := e.Order(ctx, guard, &done, "guard", "pin"); err != nil {
		return fmt.Errorf("pin guard %s: %w", c.ID, err)
	}
	if e.Out.Document(done) {
		return nil
	}
	e.Out.Print("pinned: %s for %s, at priority %d", term.Printable(done.ID), term.Printable(strings.Join(done.Events, " ")), done.Priority)
	if done.Match != "" {
		e.Out.Print(", with the match %s", term.Printable(done.Match))
	}
	if !done.InForce {
		e.Out.Print(". It is not in force, and its events are refused until it is: %s", term.Printable(done.Why))
	}
	e.Out.Print("\n")
	return nil
}

// registered returns a guard as it is registered now.
func registered(ctx context.Context, e *cli.Env, id string) (pinned.Guard, error) {
	a, err := e.Agent(ctx, agent.Options{})
	if err != nil {
		return pinned.Guard{}, err
	}
	list, err := a.Registry(ctx)
	if err != nil {
		return pinned.Guard{}, err
	}
	i := slices.IndexFunc(list, func(l agent.Listing) bool { return l.ID == id })
	if i < 0 {
		return pinned.Guard{}, fmt.Errorf("no hook %s is registered: say with --event which events need it", term.Printable(id))
	}
	return pinned.Guard{ID: id, Events: list[i].Events, Priority: list[i].Priority, Match: list[i].Match}, nil
}

type unpinCmd struct {
	ID string `arg:"" help:"Id of the guard's hook."`
}

// Help describes the effect.
func (c *unpinCmd) Help() string {
	return "The hook stays registered. A guard that the file of hook-router --guards names stays pinned: change the file of every router."
}

// Run unpins a guard. It fails if a file names the guard.
func (c *unpinCmd) Run(ctx context.Context, e *cli.Env) error {
	var done struct {
		Unpinned bool `json:"unpinned"`
		InFile   bool `json:"in_file"`
	}
	if err := e.Order(ctx, map[string]string{"id": c.ID}, &done, "guard", "unpin"); err != nil {
		return fmt.Errorf("unpin guard %s: %w", c.ID, err)
	}
	what := "is not pinned by an order"
	if done.Unpinned {
		what = "is not pinned by an order any more"
	}
	switch shown := e.Out.Document(done); {
	case done.InFile:
		return fmt.Errorf("guard %s %s, and stays pinned by a file, which is that of hook-router --guards or the policy of hook-router up: remove it there, on every router", term.Printable(c.ID), what)
	case shown:
	case done.Unpinned:
		e.Out.Print("unpinned: %s\n", term.Printable(c.ID))
	default:
		e.Out.Print("%s %s; `hookctl guard list` lists those that are\n", term.Printable(c.ID), what)
	}
	return nil
}
