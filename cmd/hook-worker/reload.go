package main

import (
	"context"
	"errors"
	"os"
	"slices"

	"github.com/hookrouter/hookrouter/internal/filewatch"
	"github.com/hookrouter/hookrouter/internal/hookfile"
	"github.com/hookrouter/hookrouter/internal/hookfile/kind"
	"github.com/hookrouter/hookrouter/internal/hookset"
)

// reloader keeps the hooks what the file says.
type reloader struct {
	serve  serve
	tell   teller
	set    *hookset.Set
	watch  *filewatch.Watcher // nil where files can't be watched
	worker kind.Worker
}

// run reads the file again when it, or what its hooks are built from, changes, and at
// each signal, until ctx ends.
func (r reloader) run(ctx context.Context, hangup <-chan os.Signal) {
	var changed <-chan struct{}
	if r.watch != nil {
		changed = r.watch.Changed()
	}
	for {
		r.follow()
		select {
		case <-ctx.Done():
			return
		case <-hangup:
		case <-changed:
		}
		r.reload(ctx)
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
func (r reloader) reload(ctx context.Context) {
	changes, err := r.apply(ctx)
	switch {
	case err == nil:
		r.tell.log.Info("reloaded "+r.serve.Config+": "+changes.String(), "new", changes.New, "changed", changes.Changed, "removed", changes.Removed)
	case ctx.Err() != nil: // told to end meanwhile
	default:
		for _, e := range errorsOf(err) {
			r.tell.log.Error("not reloaded: the hooks are what they were", "file", r.serve.Config, "error", e)
		}
	}
}

func (r reloader) apply(ctx context.Context) (hookset.Changes, error) {
	file, err := read(r.serve.Config, r.worker)
	if err != nil {
		return hookset.Changes{}, err
	}
	if r.serve.url(file) != r.tell.url || r.serve.prefix(file) != r.tell.prefix {
		file.Close()
		return hookset.Changes{}, errors.New("nats was changed in the file: a worker stays where it is connected, so start it anew")
	}
	changes, err := r.set.Apply(ctx, r.tell.logged(file))
	if err == nil {
		r.warn(file, changes)
	}
	return changes, err
}

// warn tells the warnings of the hooks that are not what they were.
func (r reloader) warn(file *hookfile.File, changes hookset.Changes) {
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
	for _, e := range hookfile.Errors(err) {
		all = append(all, e)
	}
	if len(all) == 0 {
		all = append(all, err)
	}
	return all
}
