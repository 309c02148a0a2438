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
	// File holds the hooks at the start.
	File *workerfile.File
	// Path is the path of File; empty if it was not read from a file, and never changes.
	Path string
	// Read reads the file of Path again. An error keeps the hooks that there are.
	Read func() (*workerfile.File, error)
	// Watch reports changes of Path; it was made before File was read. Nil if files can't be watched:
	// then Reload says when to read again.
	Watch *filewatch.Watcher
	// Changed reports changes if Watch is nil, since Read does not read a file. Nil for none.
	Changed <-chan struct{}
	// Metadata is that of [worker.Options].
	Metadata func() map[string]string
	// Reload makes Run read the file again at each signal; nil for none.
	Reload <-chan os.Signal
	// Applying is called before the hooks of a file are registered, those at the start
	// included. What it returns is called with the outcome; it may be nil. Nil for nothing.
	Applying func(*workerfile.File) (done func(error))
	// Ready is called once, when all hooks of File are registered and the file is followed;
	// nil for nobody.
	Ready func()
	// NATS and Prefix name the bus in messages, without its password.
	NATS, Prefix string
	// Metrics get the outcome of each reading.
	Metrics *telemetry.WorkerFile
	// Remind is how often a failed reload is logged again; 0 means once a minute.
	Remind time.Duration
	// Registered is called for each hook that was registered, with its kind; nil for nobody.
	Registered func(kind string, reg chain.Registration)
	// Log gets reloads, failures of hooks, and waiting for a router.
	Log *slog.Logger
}

// Run registers the hooks of the file, serves them and follows the file until ctx ends. Then it
// answers the calls that it took.
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
	f.follow() // before it says that it serves
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

// concurrency reports calls that are under way at the same time to package procs.
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
