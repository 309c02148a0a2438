package dispatch

import (
	"cmp"
	"log/slog"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/approvals/held"
	"github.com/hookrouter/hookrouter/internal/telemetry"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/approval"
)

// observe logs, counts and traces an event. Its answer has left, or is an error.
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

// logEvent writes a line for an event, and one for each hook that failed.
func (d *Dispatcher) logEvent(ev *event, err error) {
	ctx := ev.trace.Context()
	out := ev.observed.Outcome
	for i := range out.Calls {
		if call := &out.Calls[i]; call.Failure != "" {
			d.log.WarnContext(ctx, "hook failed", "hook", call.Entry.ID, "event", ev.name(), "session_id", ev.session(), "chain_id", ev.chainID,
				"failure", call.Failure, "failed_open", call.FailedOpen, "error", d.masked(call.Err))
		}
	}
	if !d.log.Enabled(ctx, slog.LevelInfo) {
		return
	}
	line := slog.NewRecord(time.Now(), slog.LevelInfo, "event", 0) // no source position: that would cost more than the line
	line.AddAttrs(slog.String("event", ev.name()), slog.String("session_id", ev.session()), slog.String("chain_id", ev.chainID))
	if err != nil {
		line.AddAttrs(slog.Int("refused", wire.FromError(err).Code))
	} else {
		line.AddAttrs(slog.String("action", cmp.Or(ev.observed.Action, string(out.Result.Action))))
	}
	line.AddAttrs(slog.Int("hooks", called(*out)+len(ev.observed.Answers)))
	if out.DeniedBy != "" {
		line.AddAttrs(slog.String("denied_by", out.DeniedBy))
	}
	_ = d.log.Handler().Handle(ctx, line)
}

// masked is an error as a log line may hold it: what a hook says may quote the data.
func (d *Dispatcher) masked(err error) string {
	if err == nil {
		return ""
	}
	return d.view.Masked(err.Error())
}

// asked is what the observer may know of an approval request.
func asked(s *held.Event) telemetry.Approval {
	return telemetry.Approval{
		ID: s.ID, ChainID: s.ChainID, Hook: s.HookID, Event: s.Event, Session: s.Session, Trace: s.Trace, Asked: s.Created.Time,
	}
}

// decidedAbout is the same once it is decided.
func decidedAbout(s *held.Event, d approval.Decision) telemetry.Approval {
	a := asked(s)
	a.Decided, a.Granted, a.TimedOut, a.DecidedBy = d.Decided.Time, d.Granted, d.TimedOut, d.DecidedBy
	return a
}

// decidedBy is who decided, as metrics count it.
func decidedBy(d approval.Decision) string {
	switch {
	case d.TimedOut:
		return telemetry.ByTimeout
	case d.Error != "":
		return telemetry.ByError
	case strings.HasPrefix(d.DecidedBy, "rule "):
		return telemetry.ByRule
	}
	return telemetry.ByPerson
}
