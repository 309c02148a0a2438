package main

import (
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/internal/cli/workerfiles"
	"github.com/hookrouter/hookrouter/internal/telemetry"
	"github.com/hookrouter/hookrouter/internal/version"
	"github.com/hookrouter/hookrouter/internal/workerfile"
	hooks "github.com/hookrouter/hookrouter/internal/workerfile/serve"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// teller reports what a worker does: as text on a terminal, otherwise as log lines, so that all
// lines have the same format.
type teller struct {
	out io.Writer
	log *slog.Logger // writes to out, too
}

// people reports whether the output is a terminal.
func (t teller) people() bool { return telemetry.OnTerminal(t.out) }

// say writes text on a terminal, otherwise a log line.
func (t teller) say(text, line string, args ...any) {
	if t.people() {
		term.Say(t.out, text)
		return
	}
	t.log.Info(line, args...) //nolint:sloglint // callers pass constants
}

// warnings reports the warnings of a file.
func (t teller) warnings(file *workerfile.File) {
	if t.people() {
		workerfiles.Warn(file, t.out)
		return
	}
	for _, warning := range file.Warnings() {
		t.log.Warn("worker file has a warning", "warning", warning)
	}
}

// registered reports a registered hook.
func (t teller) registered(kind string, reg chain.Registration) {
	switch {
	case t.people():
		term.Say(t.out, fmt.Sprintf("registered %s: %s %s", reg.ID, kind, hooks.Words(reg)))
	case len(reg.Channels) > 0:
		t.log.Info("hook registered", "hook", reg.ID, "kind", kind, "channels", strings.Join(reg.Channels, ","))
	default:
		reg = reg.WithDefaults()
		t.log.Info("hook registered", "hook", reg.ID, "kind", kind, "events", strings.Join(reg.Events, ","), "priority", reg.Priority, "on_failure", reg.OnFailure, "mode", reg.Mode)
	}
}

// ready reports that the worker answers calls.
func (t teller) ready(count int, nats string) {
	text := fmt.Sprintf("hook-worker %s answers for %s on %s", version.Number(), term.Plural(count, "hook"), nats)
	t.say(text, "worker answers for its hooks", "version", version.Number(), "hooks", count, "nats", nats)
}

// follows reports that the worker follows a policy.
func (t teller) follows(policy, nats string) {
	text := fmt.Sprintf("hook-worker %s follows policy %s on %s", version.Number(), policy, nats)
	t.say(text, "worker follows policy", "version", version.Number(), "policy", policy, "nats", nats)
}

// stopping reports that no new calls are accepted.
func (t teller) stopping() {
	const text = "stopping: no new calls are accepted"
	t.say(text, text)
}

// stopped reports that the worker has stopped.
func (t teller) stopped() { t.say("stopped", "stopped") }
