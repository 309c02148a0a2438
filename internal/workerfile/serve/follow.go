package serve

import (
	"context"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/workerfile"
	"github.com/hookrouter/hookrouter/internal/workerfile/reload"
	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
)

// remindEvery is how often a failed reload is logged again.
const remindEvery = time.Minute

// follower reloads the hooks when the file changes.
type follower struct {
	Options
	client *hookrouter.Client
	report reporter
	set    *reload.Set
}

// run rereads the file until ctx ends: when it changes, when a file that its hooks were built from
// changes, and at each signal. While a reload has failed, it logs the reason repeatedly.
func (f follower) run(ctx context.Context) {
	changed := f.Changed
	if f.Watch != nil {
		changed = f.Watch.Changed()
	}
	reminder := time.NewTicker(f.Remind)
	defer reminder.Stop()
	var failed error
	var since time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-reminder.C:
			if failed != nil {
				f.Log.Error("reload still failing; keeping the previous hooks", "file", f.Path, "since", since, "error", errorsOf(failed)[0])
			}
			continue
		case <-f.Reload:
		case <-changed:
		}
		failed, since = f.reload(ctx), time.Now()
		f.follow()
		reminder.Reset(f.Remind)
	}
}

// follow watches the files that the hooks were built from.
func (f follower) follow() {
	if f.Watch == nil {
		return
	}
	if err := f.Watch.Watch(append(f.set.Files(), f.Path)...); err != nil {
		f.Log.Warn("file watch failed for some files; send SIGHUP to reload", "error", err)
	}
}

// reload applies the whole file, or logs why it can't.
func (f follower) reload(ctx context.Context) error {
	changes, err := f.apply(ctx)
	switch {
	case err == nil:
		f.Metrics.Read(ctx, true)
		f.Log.Info("reloaded", "file", f.Path, "changes", changes.String(), "new", ids(changes.New), "changed", ids(changes.Changed), "removed", ids(changes.Removed))
	case ctx.Err() != nil: // stopped in the meantime
	default:
		f.Metrics.Read(ctx, false)
		for _, e := range errorsOf(err) {
			f.Log.Error("reload failed; keeping the previous hooks", "file", f.Path, "error", e)
		}
		Announce(ctx, f.client, f.Log, filepath.Base(f.Path), errorsOf(err)[0])
	}
	return err
}

// announceWithin bounds the time to emit the event about a policy that could not be loaded.
const announceWithin = 2 * time.Second

// Announce emits an event about a policy that could not be loaded, for hooks and watchers. id names
// the policy. Announce only logs a failure.
func Announce(ctx context.Context, client *hookrouter.Client, log *slog.Logger, id string, cause error) {
	ctx, cancel := context.WithTimeout(ctx, announceWithin)
	defer cancel()
	a, err := agent.New(client, agent.Options{Source: "/hook-worker"})
	if err == nil {
		_, err = a.Emit(ctx, events.ModuleLoadFailed, events.ModuleLoadFailedData{ModuleType: "policy", ModuleID: id, Error: cause.Error(), ReasonCode: "invalid"})
	}
	if err != nil {
		log.Warn("event not emitted", "event", events.ModuleLoadFailed, "error", err)
	}
}

func ids(list []string) string { return strings.Join(list, ",") }

func (f follower) apply(ctx context.Context) (reload.Changes, error) {
	file, err := f.Read()
	if err != nil {
		return reload.Changes{}, err
	}
	changes, err := f.take(ctx, file)
	if err == nil {
		f.warn(file, changes)
	}
	return changes, err
}

// warn logs the warnings about new and changed hooks.
func (f follower) warn(file *workerfile.File, changes reload.Changes) {
	for _, h := range file.Hooks {
		if id := h.Registration.ID; !slices.Contains(changes.New, id) && !slices.Contains(changes.Changed, id) {
			continue
		}
		for _, warning := range h.Warnings {
			f.Log.Warn("hook has a warning", "hook", h.Registration.ID, "warning", warning)
		}
	}
}

// errorsOf returns the errors of a file in err, or else err itself.
func errorsOf(err error) (all []error) {
	for _, e := range workerfile.Errors(err) {
		all = append(all, e)
	}
	if len(all) == 0 {
		all = append(all, err)
	}
	return all
}
