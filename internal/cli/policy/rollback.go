package policy

import (
	"context"
	"fmt"

	"github.com/hookrouter/hookrouter/internal/bundle"
	"github.com/hookrouter/hookrouter/internal/cli"
)

// RollbackCmd is `hookctl policy rollback`.
type RollbackCmd struct {
	Name string `arg:"" help:"Name of the policy."`
	To   uint64 `placeholder:"SERIAL" help:"The version to go back to; default: the one before, after a rollback the one before what it restored."`
	signing
}

// Help describes the command.
func (c *RollbackCmd) Help() string {
	return "The files of an earlier version are signed anew, with a new serial that says what it restores. Routers keep the last 32 versions; push an older one from its commit."
}

// Run restores an earlier version.
func (c *RollbackCmd) Run(ctx context.Context, e *cli.Env) error {
	d, err := c.open(ctx, e, c.Name)
	if err != nil {
		return err
	}
	now := d.now[bundle.Enforce].Bundle
	if now == nil {
		return fmt.Errorf("policy rollback: nothing is enforced of policy %s", c.Name)
	}
	old, err := d.before(ctx, now, c.To)
	if err != nil {
		return err
	}
	return d.push(ctx, e, bundle.Statement{Serial: d.serial(c.Serial), Use: bundle.Enforce, Restores: old.Serial, Commit: old.Commit}, old.Files)
}

// before finds an earlier version. Serial 0 means the last version that was enforced before and had
// other files. After a rollback, that is a version before the restored one: a second rollback must
// not return to the version that the first one left.
func (d *publisher) before(ctx context.Context, now *bundle.Bundle, serial uint64) (*bundle.Bundle, error) {
	if serial > 0 {
		one, err := d.get(ctx, bundle.Enforce, serial)
		if err == nil && one.Bundle == nil {
			err = fmt.Errorf("policy rollback: routers do not have %s@%d, or another key signed it: push it from its commit", d.name, serial)
		}
		return one.Bundle, err
	}
	first, err := d.original(ctx, now)
	if err != nil {
		return nil, err
	}
	for serial = first - 1; serial > 0 && first-serial <= maxBack; serial-- {
		one, err := d.get(ctx, bundle.Enforce, serial)
		if err != nil {
			return nil, err
		}
		if one.Bundle != nil && one.Bundle.Digest != now.Digest {
			return one.Bundle, nil
		}
	}
	return nil, fmt.Errorf("policy rollback: no version before %s@%d is stored: say which with --to, or push one from its commit", d.name, first)
}

// original returns the serial under which a version's files were first pushed: its own, or that of
// the version that it restored.
func (d *publisher) original(ctx context.Context, b *bundle.Bundle) (uint64, error) {
	for b.Restores > 0 {
		one, err := d.get(ctx, bundle.Enforce, b.Restores)
		if err != nil {
			return 0, err
		}
		if one.Bundle == nil || one.Serial >= b.Serial { // no longer stored, or not the requested version
			return b.Restores, nil
		}
		b = one.Bundle
	}
	return b.Serial, nil
}

// maxBack bounds how many versions before searches.
const maxBack = 64
