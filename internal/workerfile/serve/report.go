package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hookrouter/hookrouter/internal/workerfile"
	"github.com/hookrouter/hookrouter/internal/workerfile/exechook"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// reporter logs registrations and calls for the operator.
type reporter struct {
	registered   func(kind string, reg chain.Registration)
	log          *slog.Logger
	nats, prefix string
	calls        *atomic.Int64 // in flight
}

// Patience is how long a registration may take before a warning is logged.
const Patience = 700 * time.Millisecond

// registering logs a warning while no router answers. done reports the registration.
func (t reporter) registering(h workerfile.Hook, reg chain.Registration) (done func(error)) {
	waiting := after(Patience, func() {
		t.log.Warn("no router has answered yet; still waiting. One that follows a killed router takes some seconds. If none runs, `hook-router` starts one with a NATS of its own, `hook-router --nats-url URL` one on this NATS",
			"subject", t.prefix+".register."+reg.ID, "nats", t.nats)
	})
	return func(err error) {
		waiting()
		if err == nil {
			t.registered(h.Kind, reg)
		}
	}
}

// Words describes a registration, with its defaults.
func Words(reg chain.Registration) string {
	if len(reg.Channels) > 0 {
		return "contributes to " + strings.Join(reg.Channels, " ")
	}
	reg = reg.WithDefaults()
	return fmt.Sprintf("on %s, priority %d, on_failure %s, mode %s", strings.Join(reg.Events, " "), reg.Priority, reg.OnFailure, reg.Mode)
}

// stopWithin bounds how long a worker may take to stop: as long as a call may take.
const stopWithin = chain.MaxTimeout

// stop closes a worker after it has answered its calls, and logs how many are pending.
func (t reporter) stop(ctx context.Context, w *worker.Worker) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopWithin)
	defer cancel()
	if n := t.calls.Load(); n > 0 {
		t.log.Info("stopping; a second signal ends at once", "calls", n, "limit", stopWithin)
	}
	return w.Close(ctx)
}

// after calls do after a delay, unless stop is called first. If do has begun, stop waits for it.
func after(d time.Duration, do func()) (stop func()) {
	done := make(chan struct{})
	timer := time.AfterFunc(d, func() { defer close(done); do() })
	return func() {
		if !timer.Stop() {
			<-done
		}
	}
}

// logged makes the hooks of a file log their failures, and returns the file. The router, which may
// run elsewhere, logs what they mean for the event.
func (t reporter) logged(file *workerfile.File) *workerfile.File {
	for i, h := range file.Hooks {
		file.Hooks[i].Handler = t.handler(h)
	}
	for _, h := range slices.Concat(file.Hooks, file.Contributors) {
		for channel, contribute := range h.Contributors {
			h.Contributors[channel] = t.contributor(h.Registration.ID, contribute)
		}
	}
	return file
}

// contributor logs the failures of a contributor. The caller sees only that a value is missing.
func (t reporter) contributor(hook string, contribute kind.Contributor) kind.Contributor {
	return func(ctx context.Context, channel string) (any, error) {
		t.calls.Add(1)
		defer t.calls.Add(-1)
		value, err := contribute(ctx, channel)
		if err != nil {
			t.log.Warn("contributor failed", "hook", hook, "channel", channel, "error", err)
		}
		return value, err
	}
}

func (t reporter) handler(h workerfile.Hook) kind.Handler {
	return func(ctx context.Context, ev events.Event) (chain.Result, error) {
		t.calls.Add(1)
		defer t.calls.Add(-1)
		result, err := h.Handler(ctx, ev)
		if err != nil {
			t.failed(ctx, h, ev, err)
		}
		return result, err
	}
}

// failed logs a failed call. A call that the router cancelled did not fail.
func (t reporter) failed(ctx context.Context, h workerfile.Hook, ev events.Event, err error) {
	attrs := []any{"hook", h.Registration.ID, "kind", h.Kind, "event", ev.Name, "error", err}
	if errors.Is(context.Cause(ctx), worker.ErrInVain) {
		t.log.Debug("call cancelled", attrs...)
		return
	}
	if failure, ok := errors.AsType[*exechook.Failure](err); ok && failure.Stderr != "" {
		attrs = append(attrs, "stderr", failure.Stderr)
	}
	t.log.Warn("hook failed", attrs...)
}
