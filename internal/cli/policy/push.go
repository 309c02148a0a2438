package policy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/hookrouter/hookrouter/internal/bundle"
	"github.com/hookrouter/hookrouter/internal/bundle/follow"
	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/internal/cli/workerfiles"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
)

// PushCmd is `hookctl policy push`.
type PushCmd struct {
	Name string `arg:"" help:"Name of the policy, as workers are started with."`
	File string `arg:"" help:"The worker file, or git:REVISION:FILE."`
	signing
	Shadow     bool   `help:"Have workers try it beside what is enforced: its answers are recorded, and count for nothing."`
	PolicyExec bool   `help:"The policy may have hooks that run commands or call endpoints, as for workers with this flag; its tests here call those that are replay_safe. Only for files that you trust."`
	Commit     string `placeholder:"HASH" help:"Commit that the files are from, for the record; default: that of git:REVISION:FILE."`
}

// Help describes the command.
func (c *PushCmd) Help() string {
	return `The worker file and the files that its hooks are built from are signed and handed to routers, once its tests pass here. Workers that were
started with --policy NAME and the verifier key take it over when its tests pass there too, without losing a call, and keep it on disk.

A hook that leaves the policy is unregistered; a guard stays, and denies, until hookctl hook rm removes it.`
}

// Run signs and pushes.
func (c *PushCmd) Run(ctx context.Context, e *cli.Env) error {
	dir, err := os.MkdirTemp("", "hookctl-policy-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := c.File
	if rev, given, err := parseRevision(c.File); err != nil {
		return err
	} else if given {
		from := filepath.Join(dir, "from")
		if err := os.Mkdir(from, 0o700); err != nil {
			return err
		}
		var commit string
		if path, commit, err = rev.checkout(ctx, from); err != nil {
			return err
		}
		c.Commit = cmp.Or(c.Commit, commit)
	}
	files, err := collect(path, e)
	if err != nil {
		return err
	}
	d, err := c.open(ctx, e, c.Name)
	if err != nil {
		return err
	}
	s := bundle.Statement{Serial: d.serial(c.Serial), Use: bundle.Enforce, Commit: c.Commit}
	if c.Shadow {
		s.Use = bundle.Shadow
	}
	trial := &bundle.Bundle{Files: files}
	at := filepath.Join(dir, "trial")
	if err := os.Mkdir(at, 0o700); err != nil {
		return err
	}
	if _, err := trial.Write(at); err != nil {
		return err
	}
	if err := follow.Test(ctx, trial, at, c.PolicyExec); err != nil {
		return fmt.Errorf("policy push: %w", err)
	}
	return d.push(ctx, e, s, files)
}

// collect reads a worker file and the files that its hooks are built from. It rejects files outside
// of the worker file's directory, including by a link: the policy's author could otherwise publish
// files that only the person who pushes may read.
func collect(path string, e *cli.Env) ([]bundle.File, error) {
	file, err := workerfiles.Look(path, kind.Worker{}, e.Stderr)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, h := range slices.Concat(file.Hooks, file.Contributors) {
		paths = append(paths, h.Files...)
	}
	names := map[string]bool{}
	for _, one := range paths {
		err := filepath.WalkDir(one, func(p string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			rel, err := filepath.Rel(dir, p)
			if err != nil || !filepath.IsLocal(rel) {
				return fmt.Errorf("policy push: %s is not below %s, where the worker file is", term.Printable(p), term.Printable(dir))
			}
			names[filepath.ToSlash(rel)] = true
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	main := filepath.Base(path)
	delete(names, main)
	list := []string{main}
	for name := range names {
		list = append(list, name)
	}
	slices.Sort(list[1:])
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var files []bundle.File
	for _, name := range list {
		text, err := root.ReadFile(filepath.FromSlash(name))
		if err != nil {
			return nil, fmt.Errorf("policy push: %w", err)
		}
		files = append(files, bundle.File{Name: name, Text: string(text)})
	}
	return files, nil
}

// leaving warns about guards that a new version no longer has. They deny until they are removed.
func leaving(e *cli.Env, now, next *bundle.Bundle) {
	was, is := guards(now), guards(next)
	for _, id := range was {
		if !slices.Contains(is, id) {
			e.Tell("%s leaves the policy, and denies until `hookctl hook rm %[1]s`", term.Printable(id))
		}
	}
}

// guards returns the ids of the policy's hooks that stay registered without it, or nil if the
// policy does not load here.
func guards(b *bundle.Bundle) (ids []string) {
	if b == nil {
		return nil
	}
	dir, err := os.MkdirTemp("", "hookctl-policy-")
	if err != nil {
		return nil
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path, err := b.Write(dir)
	if err != nil {
		return nil
	}
	file, err := workerfiles.Look(path, kind.Worker{}, io.Discard)
	if err != nil {
		return nil
	}
	defer file.Close()
	for _, h := range file.Hooks {
		if h.Registration.StaysRegistered() {
			ids = append(ids, h.Registration.ID)
		}
	}
	return ids
}

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
