package evaluate

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/hookrouter/hookrouter/internal/auditlog/query"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// Source gives recorded chains, the oldest first, until there are no more, or each
// returns an error, which it then returns.
type Source func(ctx context.Context, each func(*Recording) error) error

// RecordingFilter says which chains are read. The zero RecordingFilter takes all.
type RecordingFilter struct {
	Session string
	Event   string // a name or a pattern, see [events.CheckPattern]; empty for all
	Chain   string // its id
	Since   time.Time
	Until   time.Time // before that
	Limit   int       // how many chains at most, the oldest; 0 for no limit

	// Unreadable is called for each line that is no record; nil ignores them.
	Unreadable func(err error)
}

// slack is how much the records of one chain may differ in time.
const slack = time.Minute

// FromLog reads the live log, as it is when it begins.
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

// FromExport reads an export. It is not verified.
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

// taker puts records together and gives the wanted chains to each. Its error is
// [query.ErrEnough] where no more are wanted.
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
