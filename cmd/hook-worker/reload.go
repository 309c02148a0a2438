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
	serve  serve
	tell   teller
	set    *reload.Set
	watch  *filewatch.Watcher // nil where files can't be watched
	worker kind.Worker
	shown  *telemetry.WorkerFile
	remind time.Duration
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
				r.tell.log.Error("still not reloaded: the hooks are what they were", "file", r.serve.Config, "since", since, "error", errorsOf(failed)[0])
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
		r.tell.log.Warn("changes of some files are not noticed: SIGHUP reads them again", "error", err)
	}
}

// reload takes the file over as a whole, or says why not.
func (r reloader) reload(ctx context.Context) error {
	changes, err := r.apply(ctx)
	switch {
	case err == nil:
		r.shown.Read(true)
		r.tell.log.Info("reloaded "+r.serve.Config+": "+changes.String(), "new", ids(changes.New), "changed", ids(changes.Changed), "removed", ids(changes.Removed))
	case ctx.Err() != nil: // told to end meanwhile
	default:
		r.shown.Read(false)
		for _, e := range errorsOf(err) {
			r.tell.log.Error("not reloaded: the hooks are what they were", "file", r.serve.Config, "error", e)
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
	if r.serve.url(file) != r.tell.url || r.serve.prefix(file) != r.tell.prefix {
		file.Close()
		return reload.Changes{}, errors.New("nats was changed in the file: a worker stays where it is connected, so start it anew")
	}
	changes, err := r.set.Apply(ctx, r.tell.logged(file))
	if err == nil {
		r.warn(file, changes)
	}
	return changes, err
}

// warn tells the warnings of the hooks that are not what they were.
func (r reloader) warn(file *workerfile.File, changes reload.Changes) {
	for _, h := range file.Hooks {
		if id := h.Registration.ID; !slices.Contains(changes.New, id) && !slices.Contains(changes.Changed, id) {
			continue
		}
		for _, warning := range h.Warnings {
			r.tell.log.Warn("the hook is probably not as it was meant", "hook", h.Registration.ID, "warning", warning)
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
