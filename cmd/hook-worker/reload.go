package main

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/cli/workerfiles"
	"github.com/hookrouter/hookrouter/internal/filewatch"
	"github.com/hookrouter/hookrouter/internal/telemetry"
	"github.com/hookrouter/hookrouter/internal/workerfile"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/internal/workerfile/reload"
)

// remindEvery is how often the log repeats that the hooks are not those of the file.
const remindEvery = time.Minute

// reloader keeps the hooks what the file says.
type reloader struct {
	serve   serve
	report  reporter
	set     *reload.Set
	watch   *filewatch.Watcher // nil where files can't be watched
	worker  kind.Worker
	metrics *telemetry.WorkerFile
	remind  time.Duration
}

// run reads the file again when it, or what its hooks are built from and follow has
// seen, changes, and at each signal, until ctx ends. As long as it could not be taken over, the log repeats why.
func (r reloader) run(ctx context.Context, hangup <-chan os.Signal) {
	var changed <-chan struct{}
	if r.watch != nil {
		changed = r.watch.Changed()
	}
	reminder := time.NewTicker(r.remind)
	defer reminder.Stop()
	var failed error
	var since time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-reminder.C:
			if failed != nil {
				r.report.log.Error("reload still failing; keeping the previous hooks", "file", r.serve.Config, "since", since, "error", errorsOf(failed)[0])
			}
			continue
		case <-hangup:
		case <-changed:
		}
		failed, since = r.reload(ctx), time.Now()
		r.follow()
		reminder.Reset(r.remind)
	}
}

// follow watches the files that the hooks were built from.
func (r reloader) follow() {
	if r.watch == nil {
		return
	}
	if err := r.watch.Watch(append(r.set.Files(), r.serve.Config)...); err != nil {
		r.report.log.Warn("file watch failed for some files; send SIGHUP to reload", "error", err)
	}
}

// reload takes the file over as a whole, or says why not.
func (r reloader) reload(ctx context.Context) error {
	changes, err := r.apply(ctx)
	switch {
	case err == nil:
		r.metrics.Read(ctx, true)
		r.report.log.Info("reloaded", "file", r.serve.Config, "changes", changes.String(), "new", ids(changes.New), "changed", ids(changes.Changed), "removed", ids(changes.Removed))
	case ctx.Err() != nil: // stopped meanwhile
	default:
		r.metrics.Read(ctx, false)
		for _, e := range errorsOf(err) {
			r.report.log.Error("reload failed; keeping the previous hooks", "file", r.serve.Config, "error", e)
		}
	}
	return err
}

// ids are like "a,b".
func ids(list []string) string { return strings.Join(list, ",") }

func (r reloader) apply(ctx context.Context) (reload.Changes, error) {
	file, err := workerfiles.Read(r.serve.Config, r.worker)
	if err != nil {
		return reload.Changes{}, err
	}
	if r.serve.url(file) != r.report.url || r.serve.prefix(file) != r.report.prefix {
		file.Close()
		return reload.Changes{}, errors.New("nats changed in the file, and a running worker keeps its connection: restart the worker")
	}
	changes, err := r.set.Apply(ctx, r.report.logged(file))
	if err == nil {
		r.warn(file, changes)
	}
	return changes, err
}

// warn logs the warnings of new and changed hooks.
func (r reloader) warn(file *workerfile.File, changes reload.Changes) {
	for _, h := range file.Hooks {
		if id := h.Registration.ID; !slices.Contains(changes.New, id) && !slices.Contains(changes.Changed, id) {
			continue
		}
		for _, warning := range h.Warnings {
			r.report.log.Warn("hook has a warning", "hook", h.Registration.ID, "warning", warning)
		}
	}
}

// errorsOf are the errors in a file, or the one that is none of these.
func errorsOf(err error) (all []error) {
	for _, e := range workerfile.Errors(err) {
		all = append(all, e)
	}
	if len(all) == 0 {
		all = append(all, err)
	}
	return all
}
