package dispatch

import (
	"cmp"
	"context"
	"log/slog"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/approvals/held"
	"github.com/hookrouter/hookrouter/internal/shorten"
	"github.com/hookrouter/hookrouter/internal/telemetry"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// observe logs, counts and traces an event, after its answer was sent or refused.
func (d *Dispatcher) observe(ev *event, err error) {
	d.logEvent(ev, err)
	d.observer.Chain(ev.trace, ev.outcome(err))
}

// outcome is what the observer gets at the end.
func (ev *event) outcome(err error) *telemetry.Chain {
	c := &ev.observed
	if c.End.IsZero() {
		c.End = time.Now()
	}
	if err != nil {
		c.Refused = wire.FromError(err).Code
	}
	return c
}

// logEvent writes a line for the event and one for each failed hook. Warn is for problems that
// somebody must look into, info for decisions that people want to see, and debug for permitted
// events, which the audit log has anyway.
func (d *Dispatcher) logEvent(ev *event, err error) {
	ctx := ev.trace.Context()
	out := ev.observed.Outcome
	for i := range out.Calls {
		if call := &out.Calls[i]; call.Failure != "" {
			d.log.WarnContext(ctx, "hook failed", "hook", call.Entry.ID, "event", ev.name(), "session_id", ev.session(), "event_id", ev.id(), "chain_id", ev.chainID,
				"failure", call.Failure, "failed_open", call.FailedOpen, "error", d.masked(call.Err), "duration", call.Took)
		}
	}
	what, level := ev.became(err)
	if !d.log.Enabled(ctx, level) {
		return
	}
	line := slog.NewRecord(time.Now(), level, what, 0) // no source position: it would cost more than the line
	line.AddAttrs(slog.String("event", ev.name()), slog.String("session_id", ev.session()), slog.String("event_id", ev.id()), slog.String("chain_id", ev.chainID))
	text := func(name, text string) {
		if text != "" {
			line.AddAttrs(slog.String(name, text))
		}
	}
	if err != nil {
		line.AddAttrs(slog.Int("refused", wire.FromError(err).Code))
		text("error", d.logged(err.Error()))
	} else {
		text("action", ev.action())
	}
	line.AddAttrs(slog.Int("hooks", called(*out)+len(ev.observed.Answers)), slog.Duration("duration", ev.took()))
	text("denied_by", out.DeniedBy)
	text("approval_id", ev.observed.Approval)
	if level > slog.LevelDebug && err == nil {
		text("reason", d.logged(ev.reason()))
		text("rule", d.logged(ev.rule()))
	}
	_ = d.log.Handler().Handle(ctx, line)
}

// became names the outcome of an event for the log, and its level.
func (ev *event) became(err error) (what string, level slog.Level) {
	switch {
	case err != nil && wire.FromError(err).Code >= wire.Internal:
		return "event refused", slog.LevelWarn
	case err != nil:
		return "event refused", slog.LevelInfo
	}
	switch ev.action() {
	case string(chain.Deny):
		return "event denied", slog.LevelInfo
	case string(verdict.Pending), string(chain.AskUser):
		return "event waits for a person", slog.LevelInfo
	default:
		return "event", slog.LevelDebug
	}
}

func (ev *event) action() string {
	return cmp.Or(ev.observed.Action, string(ev.observed.Outcome.Result.Action))
}

func (ev *event) took() time.Duration {
	if ev.observed.End.IsZero() {
		return time.Since(ev.admitted)
	}
	return ev.observed.End.Sub(ev.admitted)
}

// reason says why the event was denied or why a person is asked.
func (ev *event) reason() string {
	if ev.frozen != nil {
		return ev.frozen.Denial()
	}
	return ev.observed.Outcome.Result.Reason
}

// rule is the rule of the hook that denied, or else that asked.
func (ev *event) rule() (rule string) {
	out := ev.observed.Outcome
	for i := range out.Calls {
		call := &out.Calls[i]
		if call.Entry.ID == out.DeniedBy || out.DeniedBy == "" && call.Result.Action == chain.AskUser && rule == "" {
			rule = call.Result.Rule
		}
	}
	return rule
}

// maxLogged bounds foreign text in a log line, in bytes.
const maxLogged = 512

// logged masks and cuts a text for a log line; it may quote the data.
func (d *Dispatcher) logged(text string) string {
	return shorten.Bytes(d.view.Masked(text), maxLogged, "…") // mask before cutting: half a secret is still a secret
}

// logDecided writes a line for a decision on an approval request.
func (d *Dispatcher) logDecided(ctx context.Context, s *held.Event, decision approval.Decision) {
	about := []slog.Attr{
		slog.String("approval_id", s.ID), slog.String("hook", s.HookID), slog.String("event", s.Event), slog.String("session_id", s.Session),
		slog.String("event_id", s.EventID), slog.String("chain_id", s.ChainID), slog.String("by", d.logged(decision.DecidedBy)),
		slog.String("reason", d.logged(cmp.Or(decision.Note, decision.Error))), slog.Duration("duration", decision.Decided.Sub(s.Created.Time)),
	}
	if decision.Granted {
		d.log.LogAttrs(ctx, slog.LevelInfo, "approval granted", about...)
	} else {
		d.log.LogAttrs(ctx, slog.LevelInfo, "approval denied", about...)
	}
}

// masked masks an error for a log line: a hook's error may quote the data.
func (d *Dispatcher) masked(err error) string {
	if err == nil {
		return ""
	}
	return d.view.Masked(err.Error())
}

// asked describes an approval request for the observer.
func asked(s *held.Event) telemetry.Approval {
	return telemetry.Approval{
		ID: s.ID, ChainID: s.ChainID, Hook: s.HookID, Event: s.Event, Session: s.Session, Trace: s.Trace, Asked: s.Created.Time,
	}
}

// decidedAbout describes a decided approval request for the observer.
func decidedAbout(s *held.Event, d approval.Decision) telemetry.Approval {
	a := asked(s)
	a.Decided, a.Granted, a.TimedOut, a.DecidedBy = d.Decided.Time, d.Granted, d.TimedOut, d.DecidedBy
	return a
}

// decidedBy classifies who decided, for metrics.
func decidedBy(d approval.Decision) string {
	switch {
	case d.TimedOut:
		return telemetry.ByTimeout
	case d.Error != "":
		return telemetry.ByError
	case d.DecidedBy == approval.ByOutdated:
		return telemetry.ByOutdated
	case strings.HasPrefix(d.DecidedBy, "rule "):
		return telemetry.ByRule
	}
	return telemetry.ByPerson
}
