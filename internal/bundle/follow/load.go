package follow

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/bundle"
	"github.com/hookrouter/hookrouter/internal/evaluate"
	"github.com/hookrouter/hookrouter/internal/hookstate"
	"github.com/hookrouter/hookrouter/internal/workerfile"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/internal/workerfile/kinds"
	"github.com/hookrouter/hookrouter/internal/workerfile/reload"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// ShadowSuffix is the suffix of the id of a hook in shadow.
const ShadowSuffix = "-shadow"

// testsWithin limits the time of a bundle's tests.
const testsWithin = time.Minute

// load builds the hooks of a bundle whose files are in a directory. acts permits them to run
// commands, call endpoints and write files. The caller must close the file.
func load(b *bundle.Bundle, dir string, acts bool, host kind.Worker) (*workerfile.File, error) {
	host.Dir = dir
	file, err := workerfile.Parse(b.Files[0].Name, []byte(b.Files[0].Text), kinds.All(host))
	if err != nil {
		if all := workerfile.Errors(err); len(all) > 0 {
			return nil, all[0]
		}
		return nil, err
	}
	if _, err = reload.Registrations(file); err == nil {
		err = check(file, dir, acts)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// check returns an error for a policy that does more than the worker permits.
func check(file *workerfile.File, dir string, acts bool) error {
	if file.NATS != (workerfile.NATS{}) {
		return errors.New("it has a section nats: the worker says itself where NATS is")
	}
	for _, h := range slices.Concat(file.Hooks, file.Contributors) {
		if !acts && (h.Acts || h.Kind == "exec" || h.Kind == "http") {
			return fmt.Errorf("hook %s acts in the world (%s): that needs --policy-exec", h.Registration.ID, h.Kind)
		}
		for _, path := range h.Files {
			if rel, err := filepath.Rel(dir, path); err != nil || !filepath.IsLocal(rel) {
				return fmt.Errorf("hook %s reads %s, which is not in the bundle", h.Registration.ID, path)
			}
		}
	}
	return nil
}

// Test runs the tests of a bundle without side effects. The error describes the first failed test.
func Test(ctx context.Context, b *bundle.Bundle, dir string, acts bool) error {
	ctx, cancel := context.WithTimeout(ctx, testsWithin)
	defer cancel()
	var unloaded error // why the hooks could not be built
	loading := func(w kind.Worker) (file *workerfile.File, err error) {
		file, err = load(b, dir, acts, w)
		unloaded = err
		return file, err
	}
	failed, first := 0, ""
	err := evaluate.RunTests(ctx, b.Files[0].Name, loading, evaluate.Options{}, func(r evaluate.Result) error {
		if !r.OK {
			if failed++; failed == 1 {
				first = fmt.Sprintf("%q, line %d: %s", r.Name, r.Line, strings.Join(r.Wrong, "; "))
			}
		}
		return nil
	})
	switch {
	case unloaded != nil:
		return unloaded
	case err != nil:
		return fmt.Errorf("run its tests: %w", err)
	case failed > 0:
		return fmt.Errorf("%d of its tests fail: %s", failed, first)
	}
	return nil
}

// try writes the files of a bundle, builds its hooks and runs its tests.
func (f *Follower) try(ctx context.Context, b *bundle.Bundle) error {
	if err := f.write(b); err != nil {
		return err
	}
	return Test(ctx, b, f.files(b), f.Acts)
}

// build builds the hooks of a bundle from its signed files.
func (f *Follower) build(b *bundle.Bundle, host kind.Worker) (*workerfile.File, error) {
	if err := f.write(b); err != nil {
		return nil, err
	}
	return load(b, f.files(b), f.Acts, host)
}

// compose returns the hooks of the running bundles and of the bundle that is being applied.
func (f *Follower) compose() (*workerfile.File, error) {
	f.mu.Lock()
	of := map[bundle.Use]*bundle.Bundle{bundle.Enforce: f.running[bundle.Enforce], bundle.Shadow: f.running[bundle.Shadow]}
	if f.composed = f.next; f.next != nil {
		of[f.next.Use] = f.next
	}
	f.mu.Unlock()
	all := &workerfile.File{}
	enforced, shadow := of[bundle.Enforce], of[bundle.Shadow]
	if enforced != nil {
		file, err := f.build(enforced, f.Host)
		if err != nil {
			return nil, err
		}
		all.Hooks, all.Contributors = named(file.Hooks, enforced), file.Contributors
	}
	if shadow != nil && (enforced == nil || shadow.Serial > enforced.Serial) {
		host := f.Host
		host.States = &hookstate.Memory{} // shadow hooks must not share the state of the enforced hooks
		file, err := f.build(shadow, host)
		if err != nil {
			all.Close()
			return nil, err
		}
		for i, h := range file.Hooks {
			file.Hooks[i] = inShadow(h)
		}
		all.Hooks = append(all.Hooks, named(file.Hooks, shadow)...)
		for _, h := range file.Contributors { // those of the enforced bundle answer
			if h.Close != nil {
				h.Close()
			}
		}
	}
	return all, nil
}

func named(hooks []workerfile.Hook, b *bundle.Bundle) []workerfile.Hook {
	for i := range hooks {
		hooks[i].Policy = b.Version()
	}
	return hooks
}

// inShadow returns the hook with a registration in mode shadow.
func inShadow(h workerfile.Hook) workerfile.Hook {
	no := false
	h.Registration.ID += ShadowSuffix
	h.Registration.Mode, h.Registration.OnFailure, h.Registration.Durable = chain.Shadow, chain.FailOpen, &no
	if h.Registration.Priority > math.MinInt32 {
		h.Registration.Priority-- // before the enforced one, whose denial would end the chain
	}
	h.Contributors = nil
	return h
}
