package hook

import (
	"context"
	"fmt"
	"time"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/pkg/agent"
)

type disableCmd struct {
	ID     string `arg:"" help:"Id of the hook."`
	Reason string `placeholder:"TEXT" help:"Why; hookctl registry and the audit log show it."`
}

// Help describes the effect.
func (c *disableCmd) Help() string {
	return "When it returns, no router calls the hook for an event that it accepts from then on: not after a restart of routers or of its worker, and not under a newer registration. Its on_failure does not apply. " +
		"A pinned guard can't be disabled: unpin it first."
}

// Run disables the hook.
func (c *disableCmd) Run(ctx context.Context, e *cli.Env) error {
	var done struct {
		ID         string    `json:"id"`
		By         string    `json:"by,omitempty"`
		Reason     string    `json:"reason,omitempty"`
		Time       time.Time `json:"time"`
		Registered bool      `json:"registered"`
	}
	if err := e.Order(ctx, map[string]string{"id": c.ID, "reason": c.Reason}, &done, "hook", "disable"); err != nil {
		return fmt.Errorf("disable hook %s: %w", c.ID, err)
	}
	if !done.Registered {
		warnOfSpelling(ctx, e, c.ID)
	}
	switch {
	case e.Out.Document(done):
	case !done.Registered:
		e.Out.Print("disabled: %s, which is not registered now; `hookctl registry` lists the hooks\n", term.Printable(c.ID))
	default:
		e.Out.Print("disabled: %s. No event reaches it until `hookctl hook enable %[1]s`\n", term.Printable(c.ID))
	}
	return nil
}

// warnOfSpelling warns if a disabled hook is not registered, and its id resembles that of a
// registered one. It is not an error, because the hook may register later.
func warnOfSpelling(ctx context.Context, e *cli.Env, id string) {
	a, err := e.Agent(ctx, agent.Options{})
	if err != nil {
		return // the hook is disabled
	}
	list, err := a.Registry(ctx)
	if err != nil {
		return
	}
	if best := similar(id, list); best != "" {
		e.Tell("no hook %s is registered: did you mean %s? `hookctl hook enable %[1]s` takes it back", id, best)
	}
}

type enableCmd struct {
	ID string `arg:"" help:"Id of the hook."`
}

// Run enables the hook.
func (c *enableCmd) Run(ctx context.Context, e *cli.Env) error {
	var done struct {
		Enabled bool `json:"enabled"`
	}
	if err := e.Order(ctx, map[string]string{"id": c.ID}, &done, "hook", "enable"); err != nil {
		return fmt.Errorf("enable hook %s: %w", c.ID, err)
	}
	switch {
	case e.Out.Document(done):
	case done.Enabled:
		e.Out.Print("enabled: %s\n", term.Printable(c.ID))
	default:
		e.Out.Print("%s is not disabled; `hookctl registry` says which hooks are\n", term.Printable(c.ID))
	}
	return nil
}
