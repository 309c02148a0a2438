package main

import (
	"cmp"
	"context"
	"errors"
	"log/slog"

	"github.com/hookrouter/hookrouter/internal/cli/workerfiles"
	"github.com/hookrouter/hookrouter/internal/filewatch"
	"github.com/hookrouter/hookrouter/internal/hookstate/bucket"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/signals"
	"github.com/hookrouter/hookrouter/internal/workerfile"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	hooks "github.com/hookrouter/hookrouter/internal/workerfile/serve"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
)

// url returns the URL of NATS for a file.
func (s serve) url(file *workerfile.File) string {
	return cmp.Or(s.NATSURL, file.NATS.URL, "nats://127.0.0.1:4222")
}

// prefix returns the first token of all subjects for a file.
func (s serve) prefix(file *workerfile.File) string {
	return cmp.Or(s.Prefix, file.NATS.Prefix, events.DefaultPrefix)
}

// Run registers and serves the hooks of the file, and reloads it on changes, until ctx ends. Then
// it answers the calls that it has accepted.
func (s serve) Run(ctx context.Context, p process) (err error) {
	if err := s.check(); err != nil {
		return workerfiles.InputError(err)
	}
	if s.Policy != "" {
		return s.followPolicy(ctx, p)
	}
	if s.DryRun {
		return s.dryRun(ctx, p)
	}
	watch, unwatched := filewatch.New(s.Config) // before the file is read
	if unwatched == nil {
		defer watch.Close()
	}
	o, err := s.observe(ctx, p)
	if err != nil {
		return err
	}
	defer o.stop(ctx)
	tel, log, pages := o.tel, o.log, o.pages
	var memory natsx.Options
	states := bucket.New(func() (*natsx.Conn, error) { return natsx.Connect(memory) })
	defer states.Close()
	host := kind.Worker{States: states, Log: log}
	file, err := workerfiles.Load(s.Config, host, p.stderr)
	if err != nil {
		return err
	}
	say := teller{p.stderr, log}
	say.warnings(file)
	memory = s.memory(file, log)
	client, err := s.connect(ctx, file, log)
	if err != nil {
		return err
	}
	defer client.Close()
	pages.conn.Store(client.Conn())
	defer context.AfterFunc(ctx, func() { pages.serving.Store(false) })()
	if unwatched != nil {
		log.Warn("file watch failed; send SIGHUP to reload", "error", unwatched)
	}
	defer signals.Stopping(ctx, say.stopping, say.stopped)()
	return hooks.Run(ctx, client, hooks.Options{
		File: file, Path: s.Config, Read: s.readAgain(file, host), Watch: watch, Reload: p.signals.Reload,
		NATS: natsx.RedactURL(s.url(file)), Prefix: s.prefix(file), Metrics: tel.WorkerFile(), Remind: p.remind, Registered: say.registered, Log: log,
		Ready: func() {
			pages.serving.Store(ctx.Err() == nil)
			say.ready(len(file.Hooks), natsx.RedactURL(s.url(file)))
		},
	})
}

// readAgain returns a function that reads the file again. The file must name the NATS server and
// prefix of the existing connection.
func (s serve) readAgain(first *workerfile.File, host kind.Worker) func() (*workerfile.File, error) {
	return func() (*workerfile.File, error) {
		file, err := workerfiles.Read(s.Config, host)
		if err != nil {
			return nil, err
		}
		if s.url(file) != s.url(first) || s.prefix(file) != s.prefix(first) {
			file.Close()
			return nil, errors.New("nats changed in the file, and a running worker keeps its connection: restart the worker")
		}
		return file, nil
	}
}

// connect connects to the bus for a file.
func (s serve) connect(ctx context.Context, file *workerfile.File, log *slog.Logger) (*hookrouter.Client, error) {
	return hookrouter.Connect(ctx, hookrouter.Options{
		URL: s.url(file), Prefix: s.prefix(file), Creds: s.NATSCreds, Role: hookrouter.RoleWorker, Name: "hook-worker", Log: log,
	})
}

// memory returns the options for the connection to the hooks' state, which default to those of the
// hooks.
func (s serve) memory(file *workerfile.File, log *slog.Logger) natsx.Options {
	creds := s.StateCred
	if s.StateURL == "" {
		creds = cmp.Or(creds, s.NATSCreds)
	}
	return natsx.Options{URL: cmp.Or(s.StateURL, s.url(file)), Prefix: s.prefix(file), Name: "hook-worker state", Creds: creds, Role: "state", Log: log}
}
