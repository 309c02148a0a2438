package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/examples/policies"
	"github.com/hookrouter/hookrouter/internal/filewatch"
	"github.com/hookrouter/hookrouter/internal/hookstate/bucket"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/pinned"
	"github.com/hookrouter/hookrouter/internal/server"
	"github.com/hookrouter/hookrouter/internal/signals"
	"github.com/hookrouter/hookrouter/internal/telemetry"
	"github.com/hookrouter/hookrouter/internal/workerfile"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/internal/workerfile/kinds/basic"
	"github.com/hookrouter/hookrouter/internal/workerfile/reload"
	hooks "github.com/hookrouter/hookrouter/internal/workerfile/serve"
	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
)

// up is the command that runs the router and a worker with a policy in one process.
type up struct {
	Policy    string `env:"HOOK_ROUTER_POLICY" type:"existingfile" placeholder:"FILE" help:"Worker file whose hooks are served, read again when it changes; empty: the starter policy for coding agents, which is built in."`
	NoBrowser bool   `help:"Do not open the console in a browser."`
	Router    serve  `embed:"" group:"Router"`
}

// starter names the built-in policy, which is not a file on disk.
const starter = "built-in:coding-agent.yaml"

// refusedByUp are the router's flags for an external NATS server, or for guards other than those of
// the policy.
var refusedByUp = []string{"nats-url", "nats-creds", "nats-monitor", "identities", "guards"}

// check returns an error for flags that defeat the purpose of the command.
func (u up) check() error {
	switch {
	case u.Router.NATSURL != "":
		return errors.New("up starts a NATS server of its own, and --nats-url joins another: stop the router that runs there, or run hook-router and hook-worker")
	case u.Router.Guards != "":
		return errors.New("up pins the guards of its policy, and --guards others: leave one of them out, or run hook-router and hook-worker")
	}
	return nil
}

func (u up) run(ctx context.Context, stdout, stderr io.Writer, sig signals.Signals) error {
	w := &policyWorker{up: u, guards: &pinned.Guards{}, reload: make(chan os.Signal, 1), ended: make(chan error, 1)}
	file, err := w.read(kind.Worker{}) // to report errors and warnings before anything starts
	if err != nil {
		return u.told(stderr, err)
	}
	defer file.Close()
	u.warn(stderr, file.Warnings())
	if err := w.pin(file); err != nil {
		return err
	}
	ctx, w.stop = context.WithCancel(ctx)
	defer w.stop()
	return u.inUse(u.Router.run(ctx, stdout, stderr, sig, w))
}

// policyWorker serves the hooks of the policy.
type policyWorker struct {
	up     up
	guards *pinned.Guards     // of the policy
	reload chan os.Signal     // forwarded by ruleFiles.watch
	stop   context.CancelFunc // ends the process if the worker fails
	cancel context.CancelFunc // ends the worker
	ended  chan error
	err    error // why the worker failed
}

// read reads the policy for a worker.
func (w *policyWorker) read(host kind.Worker) (file *workerfile.File, err error) {
	if w.up.Policy == "" {
		file, err = workerfile.Parse(starter, policies.CodingAgent, basic.Kinds(host))
	} else {
		host.Dir = filepath.Dir(w.up.Policy)
		file, err = workerfile.Load(w.up.Policy, basic.Kinds(host))
	}
	if err != nil {
		return nil, err
	}
	if file.NATS != (workerfile.NATS{}) {
		file.Close()
		return nil, fmt.Errorf("%s: up serves the policy on a NATS server of its own: remove the section nats", w.up.Policy)
	}
	return file, nil
}

// pin pins the guards of a policy, so that their events are refused until they are registered.
func (w *policyWorker) pin(file *workerfile.File) error {
	registrations, err := reload.Registrations(file)
	if err != nil {
		return err
	}
	var list []pinned.Guard
	for _, r := range registrations {
		if r = r.WithDefaults(); isGuard(r) {
			list = append(list, pinned.Guard{ID: r.ID, Events: r.Events, Priority: r.Priority, Match: r.Match})
		}
	}
	guards, err := pinned.New(list...)
	if err != nil {
		return err
	}
	w.guards.Replace(guards)
	return nil
}

// applying pins the guards of a file before its hooks are registered, and restores the previous
// ones if that fails.
func (w *policyWorker) applying(file *workerfile.File) (done func(error)) {
	before, _ := pinned.New()
	before.Replace(w.guards)
	if err := w.pin(file); err != nil {
		return nil // registering reports the error again
	}
	return func(err error) {
		if err != nil {
			w.guards.Replace(before)
		}
	}
}

// start serves the hooks until shutdown.
func (w *policyWorker) start(ctx context.Context, n *server.Server, tel *telemetry.Telemetry, log *slog.Logger, ready func(served)) {
	ctx, w.cancel = context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		err := w.serve(ctx, n, tel, log, ready)
		w.ended <- err
		w.stop() // without its worker, the router can only deny
	}()
}

// shutdown ends the worker when the router has answered all requests.
func (w *policyWorker) shutdown() {
	if w.cancel == nil {
		return // the worker was not started
	}
	w.cancel()
	if err := <-w.ended; err != nil && !errors.Is(err, hookrouter.ErrNoRouter) { // the router stopped first
		w.err = fmt.Errorf("serve the policy: %w", err)
	}
}

func (w *policyWorker) serve(ctx context.Context, n *server.Server, tel *telemetry.Telemetry, log *slog.Logger, ready func(served)) error {
	var watch *filewatch.Watcher
	if w.up.Policy != "" {
		var err error
		if watch, err = filewatch.New(w.up.Policy); err != nil { // before the file is read
			log.Warn("file watch failed; send SIGHUP to reload", "error", err)
		} else {
			defer watch.Close()
		}
	}
	url, prefix := n.ClientURL(), w.up.Router.Prefix
	states := bucket.New(func() (*natsx.Conn, error) {
		return natsx.Connect(natsx.Options{URL: url, InProcess: n.InProcess(), Prefix: prefix, Name: "hook-worker state", Role: "state", Log: log})
	})
	defer states.Close()
	host := kind.Worker{States: states, Log: log}
	file, err := w.read(host)
	if err != nil {
		return err
	}
	client, err := hookrouter.Connect(ctx, hookrouter.Options{
		URL: url, Prefix: prefix, Role: hookrouter.RoleWorker, Name: "hook-worker", Log: log,
		NATS: []nats.Option{nats.InProcessServer(n.InProcess())},
	})
	if err != nil {
		file.Close()
		return err
	}
	defer client.Close()
	return hooks.Run(ctx, client, hooks.Options{
		File: file, Path: w.up.Policy, Watch: watch, Reload: w.reload, Applying: w.applying,
		Read: func() (*workerfile.File, error) { return w.read(host) },
		NATS: natsx.RedactURL(url), Prefix: prefix, Metrics: tel.WorkerFile(), Log: log,
		Ready: func() { ready(served{len(file.Hooks), leftovers(ctx, client, file)}) },
	})
}

// served describes what the worker serves.
type served struct {
	hooks     int
	leftovers []string // ids of registered guards that the worker does not serve
}

// leftovers returns the ids of registered guards that are not in the file. Without another worker,
// they deny all their events.
func leftovers(ctx context.Context, client *hookrouter.Client, file *workerfile.File) (ids []string) {
	a, err := agent.New(client, agent.Options{})
	if err != nil {
		return nil
	}
	list, err := a.Registry(ctx)
	if err != nil {
		return nil // for information only
	}
	ours, err := reload.Registrations(file)
	for _, l := range list {
		if isGuard(l.Registration) && err == nil && !slices.ContainsFunc(ours, func(r chain.Registration) bool { return r.ID == l.ID }) {
			ids = append(ids, l.ID)
		}
	}
	return ids
}

// isGuard reports whether a registration is durable and fails closed.
func isGuard(r chain.Registration) bool {
	return r.OnFailure == chain.FailClosed && r.Enforced() && r.StaysRegistered() && r.SessionID == "" && len(r.Channels) == 0
}
