package evaluate

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/hookrouter/hookrouter/internal/auditlog/query"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// Source calls each with the recorded chains, oldest first. It ends after the last one, or returns
// the first error of each.
type Source func(ctx context.Context, each func(*Recording) error) error

// RecordingFilter selects chains. The zero RecordingFilter selects all.
type RecordingFilter struct {
	Session string
	Event   string // a name or a pattern, see [events.CheckPattern]; empty means all
	Chain   string // the id of a chain
	Since   time.Time
	Until   time.Time // exclusive
	Limit   int       // the maximum number of chains, oldest first; 0 means no limit

	// Unreadable is called for each invalid record; nil ignores them.
	Unreadable func(err error)
}

// slack is the maximum time between the records of one chain.
const slack = time.Minute

// FromLog reads the live log, up to its end when the read begins.
func FromLog(l *query.Log, f RecordingFilter) Source {
	return func(ctx context.Context, each func(*Recording) error) error {
		wide := query.Filter{Session: f.Session, Chain: f.Chain, Event: f.Event, Until: f.Until}
		if !f.Since.IsZero() {
			wide.Since = f.Since.Add(-slack)
		}
		take := f.taker(each)
		return l.Query(ctx, wide, func(r query.Record) error { return take(&r) })
	}
}

// FromExport reads an export, without verifying it.
func FromExport(in io.Reader, f RecordingFilter) Source {
	return func(ctx context.Context, each func(*Recording) error) error {
		take := f.taker(each)
		err := query.ReadExport(ctx, in, func(r query.Record) error { return take(&r) })
		if errors.Is(err, query.ErrEnough) {
			return nil
		}
		return err
	}
}

// taker collects records into chains, and calls each with the selected ones. The returned function
// fails with [query.ErrEnough] if no more are needed.
func (f RecordingFilter) taker(each func(*Recording) error) func(*query.Record) error {
	g := gatherer{open: map[string]*Recording{}}
	left := f.Limit
	return func(r *query.Record) error {
		if r.Err != nil {
			if f.Unreadable != nil {
				f.Unreadable(r.Err)
			}
			return nil
		}
		c := g.add(r)
		if c == nil || !f.wants(c) {
			return nil
		}
		if err := each(c); err != nil {
			return err
		}
		if left--; left == 0 || f.Chain != "" {
			return query.ErrEnough
		}
		return nil
	}
}

func (f RecordingFilter) wants(c *Recording) bool {
	return (f.Session == "" || c.Session == f.Session) &&
		(f.Event == "" || events.Match(f.Event, c.Event)) &&
		(f.Chain == "" || c.ID == f.Chain) &&
		(f.Since.IsZero() || !c.Time.Before(f.Since)) &&
		(f.Until.IsZero() || c.Time.Before(f.Until))
}
