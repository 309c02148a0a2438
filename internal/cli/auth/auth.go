package auth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/internal/identity"
	"github.com/hookrouter/hookrouter/internal/natscontext"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// Cmd is `hookctl auth`.
type Cmd struct {
	Init   initCmd   `cmd:"" help:"Create keys in an empty directory, for a NATS server of your own. hook-router does so by itself for its own server."`
	Add    addCmd    `cmd:"" help:"Create credentials for an agent, a worker or a person."`
	List   listCmd   `cmd:"" help:"List who has credentials, and what they may do."`
	Rotate rotateCmd `cmd:"" help:"Create new credentials for somebody; the old ones end at once."`
	Revoke revokeCmd `cmd:"" help:"End somebody's credentials at once."`
	Push   pushCmd   `cmd:"" help:"Hand all accounts to the NATS server again."`
	Config configCmd `cmd:"" help:"Print the configuration of a NATS server, or the manifests for Kubernetes."`
}

// directory is the flag for the directory of the keys.
type directory struct {
	Dir string `from:"HOOK_ROUTER_AUTH_DIR" placeholder:"DIR" help:"Directory of the keys; default: that of the router on this machine, else data/auth."`
}

// path returns the directory of the keys. By default it is derived from the context that a router
// wrote for its user.
func (d directory) path(e *cli.Env) string {
	if d.Dir != "" {
		return d.Dir
	}
	c, found, err := natscontext.Find(e.Getenv, cmp.Or(e.Server, nats.DefaultURL), string(identity.Admin))
	if err == nil && found && c.Creds != "" {
		return filepath.Dir(filepath.Dir(c.Creds))
	}
	return filepath.Join("data", "auth")
}

// change changes the authority and updates the NATS server. If the server can't be reached, it
// prints what is done, and what is left to do.
func (d directory) change(ctx context.Context, e *cli.Env, done string, do func(*identity.Authority) (identity.Identity, error)) (i identity.Identity, err error) {
	var unsent error
	err = identity.Change(d.path(e), func(a *identity.Authority) error {
		if i, err = do(a); err == nil && i.User != "" { // with credentials for NATS
			unsent = push(ctx, e, a, identity.Push)
		}
		return err
	})
	if err != nil {
		return i, explained(err)
	}
	if unsent != nil {
		fmt.Fprintf(e.Stderr, "hookctl: %s, but the NATS server does not know of it yet: %s\n"+
			"  Left to do: hookctl auth push, or start the router whose own server it is.\n"+
			"  If the server is not set up yet, hookctl auth config includes the change.\n", done, term.Clean(unsent.Error()))
		e.Exit = cli.ExitDisconnected
	}
	return i, nil
}

// pushTimeout bounds the update of the NATS server.
const pushTimeout = 5 * time.Second

func push(ctx context.Context, e *cli.Env, a *identity.Authority, send func(context.Context, *identity.Authority, *natsx.Conn) error) error {
	ctx, cancel := context.WithTimeout(ctx, pushTimeout)
	defer cancel()
	conn, err := natsx.ConnectContext(ctx, natsx.Options{
		URL: e.Server, Name: "hookctl", Creds: a.CredsFile(identity.Identity{Name: "system"}),
	})
	if err != nil {
		return err
	}
	defer conn.Close()
	return send(ctx, a, conn)
}

// explained adds to an error about missing keys how to create them.
func explained(err error) error {
	if errors.Is(err, identity.ErrNoAuthority) {
		return fmt.Errorf("%w: hook-router makes them at its first start, and hookctl auth init for a NATS server of your own; --dir says where they are", err)
	}
	return err
}

type initCmd struct {
	directory
}

// Run creates the keys.
func (c *initCmd) Run(e *cli.Env) error {
	dir := cmp.Or(c.Dir, "auth")
	if _, err := identity.Open(dir); err == nil {
		return fmt.Errorf("%s has keys already: choose another directory with --dir", dir)
	}
	if _, err := identity.Ensure(dir, cmp.Or(e.Prefix, events.DefaultPrefix)); err != nil {
		return err
	}
	e.Out.Print("keys and credentials are in %s: whoever reads it can be anybody\n", term.Printable(dir))
	e.Out.Print("  next: hookctl auth config --dir %s for the NATS server, hookctl auth add for each agent\n", term.Printable(dir))
	return nil
}

type pushCmd struct {
	directory
}

// Run sends all accounts to the server.
func (c *pushCmd) Run(ctx context.Context, e *cli.Env) error {
	a, err := identity.Open(c.path(e))
	if err != nil {
		return explained(err)
	}
	n := 0
	err = push(ctx, e, a, func(ctx context.Context, a *identity.Authority, conn *natsx.Conn) (err error) {
		n, err = identity.PushAll(ctx, a, conn)
		return err
	})
	if err != nil {
		return cli.Disconnected(err)
	}
	e.Out.Print("the NATS server knows of %s\n", term.Plural(n, "account"))
	return nil
}
