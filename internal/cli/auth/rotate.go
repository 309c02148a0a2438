package auth

import (
	"context"
	"time"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/internal/identity"
)

type rotateCmd struct {
	Name    string         `arg:"" help:"Name of the identity."`
	Expires *time.Duration `placeholder:"TIME" help:"How long the new credentials hold, such as 720h; default: until the old ones would have ended."`
	directory
}

// Run creates new credentials.
func (c *rotateCmd) Run(ctx context.Context, e *cli.Env) error {
	expires, err := end(c.Expires)
	if err != nil {
		return err
	}
	var file string
	i, err := c.change(ctx, e, "new credentials are made", func(a *identity.Authority) (identity.Identity, error) {
		i, err := a.Rotate(c.Name, expires)
		if i.User != "" {
			file = a.CredsFile(i)
		}
		return i, err
	})
	if err != nil {
		return err
	}
	return shown(e, i, file)
}

type revokeCmd struct {
	Name string `arg:"" help:"Name of the identity."`
	directory
}

// Run revokes credentials.
func (c *revokeCmd) Run(ctx context.Context, e *cli.Env) error {
	i, err := c.change(ctx, e, "the credentials are revoked", func(a *identity.Authority) (identity.Identity, error) { return a.Revoke(c.Name) })
	if err != nil {
		return err
	}
	state := "have ended"
	if e.Exit == cli.ExitDisconnected {
		state = "end when the NATS server knows"
	}
	if !e.Out.Document(i) {
		e.Out.Print("the credentials of %s %s\n  new ones: hookctl auth rotate %s\n", term.Printable(i.Label()), state, term.Printable(i.Name))
	}
	return nil
}
