package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/mod/sumdb/note"

	"github.com/hookrouter/hookrouter/internal/bundle"
	"github.com/hookrouter/hookrouter/internal/bundle/follow"
	"github.com/hookrouter/hookrouter/internal/cli/verifierkeys"
	"github.com/hookrouter/hookrouter/internal/cli/workerfiles"
	"github.com/hookrouter/hookrouter/internal/clientconn"
	"github.com/hookrouter/hookrouter/internal/hookstate/bucket"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/signals"
	"github.com/hookrouter/hookrouter/internal/workerfile"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	hooks "github.com/hookrouter/hookrouter/internal/workerfile/serve"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
)

// check returns an error for flags that contradict each other.
func (s serve) check() error {
	policy := s.Policy != ""
	switch {
	case policy && s.Config != "":
		return errors.New("give --config FILE or --policy NAME, not both")
	case !policy && s.Config == "":
		return errors.New("give --config FILE or --policy NAME")
	case !policy && (len(s.PolicyKey) > 0 || s.PolicyExec || s.PolicyDir != ""):
		return errors.New("use --policy-key, --policy-exec and --policy-cache with --policy")
	case policy && len(s.PolicyKey) == 0:
		return errors.New("--policy needs --policy-key: whose signature counts")
	case policy && s.DryRun:
		return errors.New("--dry-run is about a file: use --config")
	}
	if policy {
		return bundle.CheckName(s.Policy)
	}
	return nil
}

// followPolicy serves the hooks of a signed policy and follows its versions until ctx ends.
func (s serve) followPolicy(ctx context.Context, p process) error {
	if _, err := s.policyKeys(); err != nil {
		return workerfiles.InputError(err)
	}
	dir, err := s.policyDir()
	if err != nil {
		return workerfiles.InputError(err)
	}
	o, err := s.observe(ctx, p)
	if err != nil {
		return err
	}
	defer o.stop(ctx)
	tel, log, pages := o.tel, o.log, o.pages
	none := &workerfile.File{}
	memory := s.memory(none, log)
	states := bucket.New(func() (*natsx.Conn, error) { return natsx.Connect(memory) })
	defer states.Close()
	client, err := s.connect(ctx, none, log)
	if err != nil {
		return err
	}
	defer client.Close()
	metrics := tel.WorkerFile()
	refused := func(ctx context.Context, r follow.Refusal) {
		metrics.Read(ctx, r == follow.Refusal{})
		if r != (follow.Refusal{}) {
			hooks.Announce(ctx, client, log, cmp.Or(r.Version, s.Policy), errors.New(r.Why))
		}
	}
	follower, err := follow.New(follow.Options{
		Name: s.Policy, Keys: s.policyKeys, Acts: s.PolicyExec, Dir: dir, Conn: clientconn.Of(client).Transport,
		Host: kind.Worker{States: states, Log: log}, Poll: p.poll, Refused: refused, Log: log,
	})
	if err != nil {
		return workerfiles.InputError(err)
	}
	pages.policy.Store(follower)
	pages.conn.Store(client.Conn())
	defer context.AfterFunc(ctx, func() { pages.serving.Store(false) })()
	return s.runPolicy(ctx, p, client, follower, hooks.Options{
		File: none, NATS: natsx.RedactURL(s.url(none)), Prefix: s.prefix(none), Metrics: metrics, Log: log,
	}, func() { pages.serving.Store(ctx.Err() == nil) })
}

func (s serve) policyKeys() ([]note.Verifier, error) {
	keys, err := verifierkeys.Read("--policy-key", s.PolicyKey)
	return verifierkeys.Verifiers(keys), err
}

// policyDir returns the directory for versions of policies.
func (s serve) policyDir() (string, error) {
	if s.PolicyDir != "" {
		return s.PolicyDir, nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("keep policies: %w: say where with --policy-cache", err)
	}
	return filepath.Join(cache, "hookrouter", "policies"), nil
}

// runPolicy serves the hooks of a follower until ctx ends. It calls serving for each version with
// hooks.
func (s serve) runPolicy(ctx context.Context, p process, client *hookrouter.Client, follower *follow.Follower, o hooks.Options, serving func()) error {
	following, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer stop()
	o.Path, o.Read, o.Changed, o.Metadata = "policy "+s.Policy, follower.Read, follower.Changed(), follower.Metadata
	say := teller{p.stderr, o.Log}
	o.Reload, o.Remind, o.Registered = p.signals.Reload, p.remind, say.registered
	o.Applying = func(file *workerfile.File) func(error) {
		done := follower.Applying(file)
		return func(err error) {
			done(err)
			if err == nil && len(file.Hooks)+len(file.Contributors) > 0 {
				serving()
			}
		}
	}
	o.Ready = func() {
		wg.Go(func() { follower.Run(following) })
		say.follows(s.Policy, o.NATS)
	}
	defer signals.Stopping(ctx, say.stopping, say.stopped)()
	return hooks.Run(ctx, client, o)
}
