package policy

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/hookrouter/hookrouter/internal/bundle"
	"github.com/hookrouter/hookrouter/internal/bundle/follow"
	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/internal/cli/workerfiles"
	"github.com/hookrouter/hookrouter/internal/workerfile"
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
	names, err := filesOf(file, dir)
	if err != nil {
		return nil, err
	}
	main := filepath.Base(path)
	delete(names, main)
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var files []bundle.File
	for _, name := range append([]string{main}, slices.Sorted(maps.Keys(names))...) {
		text, err := root.ReadFile(filepath.FromSlash(name))
		if err != nil {
			return nil, fmt.Errorf("policy push: %w", err)
		}
		files = append(files, bundle.File{Name: name, Text: string(text)})
	}
	return files, nil
}

// filesOf returns the files that the hooks of a worker file are built from, relative to dir.
func filesOf(file *workerfile.File, dir string) (names map[string]bool, err error) {
	names = map[string]bool{}
	for _, h := range slices.Concat(file.Hooks, file.Contributors) {
		for _, one := range h.Files {
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
	}
	return names, nil
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
