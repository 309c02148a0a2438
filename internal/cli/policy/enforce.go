package policy

import (
	"context"
	"errors"

	"github.com/hookrouter/hookrouter/internal/bundle"
	"github.com/hookrouter/hookrouter/internal/cli"
)

// EnforceCmd is `hookctl policy enforce`.
type EnforceCmd struct {
	Name string `arg:"" help:"Name of the policy."`
	signing
}

// Help describes the command.
func (c *EnforceCmd) Help() string {
	return "The version that workers try in shadow is signed anew, to be enforced. hookctl policy compare shows before what that changes."
}

// Run enforces the version in shadow.
func (c *EnforceCmd) Run(ctx context.Context, e *cli.Env) error {
	d, err := c.open(ctx, e, c.Name)
	if err != nil {
		return err
	}
	tried, enforced := d.now[bundle.Shadow].Bundle, d.now[bundle.Enforce].Bundle
	if tried == nil || enforced != nil && tried.Serial < enforced.Serial {
		return errors.New("policy enforce: nothing is in shadow: push a version with `hookctl policy push --shadow` first")
	}
	return d.push(ctx, e, bundle.Statement{Serial: d.serial(c.Serial), Use: bundle.Enforce, Commit: tried.Commit}, tried.Files)
}
