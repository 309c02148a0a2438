package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/auditlog/query"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/pkg/audit"
	"github.com/hookrouter/hookrouter/pkg/events"
)

type auditCmd struct {
	Tail   auditTailCmd   `cmd:"" help:"Show the newest records, and with --follow those that come."`
	Query  auditQueryCmd  `cmd:"" help:"Show the records of a session, a hook, an event, a time and so on."`
	Show   auditShowCmd   `cmd:"" help:"Tell one chain as a story: what came in, what each hook did, who approved, what went out."`
	Stats  auditStatsCmd  `cmd:"" help:"Count what hooks did, what failed and who decided, and show the state of the log."`
	Export auditExportCmd `cmd:"" help:"Write the log to a file that proves itself."`
	Verify auditVerifyCmd `cmd:"" help:"Prove that nothing in the log, or in exports of it, was changed; files need no NATS."`
	Prove  auditProveCmd  `cmd:"" help:"Make a receipt that proves one record, and shows no other."`
	Check  auditCheckCmd  `cmd:"" help:"Check a receipt; needs no NATS."`
	Replay replayCmd      `cmd:"" help:"Run recorded events through the hooks of today, or a worker file, and report which decisions would differ."`

	Witness   witnessCmd       `cmd:"" help:"Watch the log from another machine, and co-sign what grows honestly; until interrupted."`
	Rotate    rotateCmd        `cmd:"" help:"Close the live segment of the log, and begin the next."`
	Remove    removeSegmentCmd `cmd:"" help:"Remove the oldest segment, once it is exported."`
	Erase     eraseCmd         `cmd:"" help:"Erase the salts of a session, or old ones, so that digests of its data mean nothing any more."`
	Bootstrap bootstrapCmd     `cmd:"" help:"Make the streams and buckets that routers need, and mend their settings."`
	Key       keyCmd           `cmd:"" help:"Make a key that signs, or show its public half."`
}

// auditLog opens the log.
func (e *env) auditLog(ctx context.Context) (l *query.Log, b *natsx.Conn, err error) {
	if b, err = e.connect(); err != nil {
		return nil, nil, err
	}
	if l, err = query.Open(ctx, b); err != nil {
		b.Close()
		return nil, nil, err
	}
	return l, b, nil
}

// auditFilter are the flags that say which records are wanted.
type auditFilter struct {
	Session    string   `placeholder:"ID" help:"Only of this session."`
	Chain      string   `placeholder:"ID" help:"Only of this chain."`
	EventID    string   `name:"event-id" placeholder:"ID" help:"Only of this event, by its id."`
	Approval   string   `placeholder:"ID" help:"Only about this question."`
	Event      string   `placeholder:"NAME" help:"Only of events of this name, or that match tool:*."`
	Hook       string   `placeholder:"ID" help:"Only of this hook."`
	Action     string   `placeholder:"ACTION" help:"Only where this was decided or done, such as deny."`
	Kind       []string `placeholder:"KIND" help:"Only of these kinds, such as chain.result or hook.*; comma-separated."`
	FailedOpen bool     `help:"Only where a hook failed and was let pass."`
	Since      string   `placeholder:"TIME" help:"Only since then: 2h, 7d, 2026-03-01, or a time as RFC 3339 has it."`
	Until      string   `placeholder:"TIME" help:"Only before then."`
}

// filter reads the flags.
func (f auditFilter) filter(now time.Time) (query.Filter, error) {
	out := query.Filter{
		Session: f.Session, Chain: f.Chain, Hook: f.Hook, Event: f.Event, Action: f.Action,
		EventID: f.EventID, Approval: f.Approval, FailedOpen: f.FailedOpen,
	}
	if f.Event != "" {
		if err := events.CheckPattern(f.Event); err != nil {
			return out, err
		}
	}
	for _, kind := range f.Kind {
		out.Kinds = append(out.Kinds, audit.Kind(kind))
	}
	var err error
	if out.Since, err = moment("--since", f.Since, now); err != nil {
		return out, err
	}
	if out.Until, err = moment("--until", f.Until, now); err != nil {
		return out, err
	}
	if !out.Since.IsZero() && !out.Until.IsZero() && !out.Since.Before(out.Until) {
		return out, fmt.Errorf("use --since %s --until %s: nothing is since the one and before the other", f.Since, f.Until)
	}
	return out, nil
}

// moment reads a time: how long ago, a day, or RFC 3339; zero for "".
func moment(flag, text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	ago := strings.TrimSpace(strings.TrimSuffix(text, "ago"))
	if days, ok := strings.CutSuffix(ago, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n >= 0 && n < 1e5 {
			return now.AddDate(0, 0, -n), nil
		}
	}
	if d, err := time.ParseDuration(ago); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return t, nil
	}
	if t, err := time.ParseInLocation(time.DateOnly, text, time.Local); err == nil {
		return t, nil
	}
	return time.Time{}, fmt.Errorf("read %s %q: a time is needed, such as 2h or 7d for how long ago, 2026-03-01, or 2026-03-01T12:00:00Z", flag, clip(text, maxValue))
}
