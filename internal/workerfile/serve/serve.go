package serve

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"github.com/hookrouter/hookrouter/internal/filewatch"
	"github.com/hookrouter/hookrouter/internal/procs"
	"github.com/hookrouter/hookrouter/internal/telemetry"
	"github.com/hookrouter/hookrouter/internal/version"
	"github.com/hookrouter/hookrouter/internal/workerfile"
	"github.com/hookrouter/hookrouter/internal/workerfile/reload"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// Options configure [Run]. File, Log and Metrics are required.
type Options struct {
	// File has the hooks to start with.
	File *workerfile.File
	// Path is the path of File; empty if File was not read from a file and never changes.
	Path string
	// Read reads the file at Path again. On an error the current hooks stay.
	Read func() (*workerfile.File, error)
	// Watch reports changes of Path; it must be created before File is read. Nil if files can't be
	// watched; then Reload triggers a reread.
	Watch *filewatch.Watcher
	// Changed reports changes if Watch is nil because Read does not read a file. It may be nil.
	Changed <-chan struct{}
	// Metadata is passed to [worker.Options].
	Metadata func() map[string]string
	// Reload makes Run reread the file at each signal. It may be nil.
	Reload <-chan os.Signal
	// Applying is called before the hooks of a file are registered, including those at the start.
	// If done is not nil, it is called with the outcome. Applying may be nil.
	Applying func(*workerfile.File) (done func(error))
	// Ready is called once, when all hooks of File are registered and the file is being watched. It
	// may be nil.
	Ready func()
	// NATS and Prefix identify the bus in messages, without its password.
	NATS, Prefix string
	// Metrics records the outcome of each read.
	Metrics *telemetry.WorkerFile
	// Remind is how often a failed reload is logged again; 0 means once a minute.
	Remind time.Duration
	// Registered is called for each registered hook, with its kind. It may be nil.
	Registered func(kind string, reg chain.Registration)
	// Log receives reloads, failures of hooks, and waits for a router.
	Log *slog.Logger
}

// Run registers the hooks of the file, serves them and follows the file until ctx ends. It then
// answers the calls that it has accepted.
func Run(ctx context.Context, client *hookrouter.Client, o Options) error {
	if o.Registered == nil {
		o.Registered = func(string, chain.Registration) {}
	}
	if o.Applying == nil {
		o.Applying = func(*workerfile.File) func(error) { return nil }
	}
	o.Remind = cmp.Or(o.Remind, remindEvery)
	w, err := worker.New(client, worker.Options{Version: version.Number(), Metadata: o.Metadata, Middleware: []worker.Middleware{concurrency()}})
	if err != nil {
		return err
	}
	report := reporter{registered: o.Registered, log: o.Log, nats: o.NATS, prefix: o.Prefix, calls: &atomic.Int64{}}
	set := reload.New(w, reload.Options{Log: o.Log, Registering: report.registering})
	defer set.Close()
	f := follower{Options: o, client: client, report: report, set: set}
	if _, err := f.take(ctx, o.File); err != nil {
		stopped := report.stop(ctx, w)
		if ctx.Err() != nil { // stopped before it was ready
			return stopped
		}
		return errors.Join(err, stopped)
	}
	o.Metrics.Read(ctx, true)
	f.follow() // before it reports readiness
	if o.Ready != nil {
		o.Ready()
	}
	f.run(ctx)
	return report.stop(ctx, w)
}

// take registers the hooks of a file in place of the current ones.
func (f follower) take(ctx context.Context, file *workerfile.File) (reload.Changes, error) {
	done := f.Applying(file)
	changes, err := f.set.Apply(ctx, f.report.logged(file))
	if done != nil {
		done(err)
	}
	return changes, err
}

// concurrency reports concurrent calls to package procs.
func concurrency() worker.Middleware {
	var calls atomic.Int32
	return func(next worker.Handler) worker.Handler {
		return func(ctx context.Context, ev worker.Event) (worker.Result, error) {
			if calls.Add(1) > 1 {
				procs.Concurrent()
			}
			defer calls.Add(-1)
			return next(ctx, ev)
		}
	}
}
