package query

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/auditlog/store"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/pkg/audit"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// Filter selects records. They must match every field that is not zero.
type Filter struct {
	Session, Chain, Hook, Action, EventID, Approval string
	Event                                           string       // a name or a pattern, see [events.CheckPattern]
	Kinds                                           []audit.Kind // one of them; "hook.*" matches by prefix
	FailedOpen                                      bool
	Since, Until                                    time.Time // of the record's own time

	any string // any id of a record, for [Log.Find]
}

// Match reports whether a record matches. An unreadable one always does.
func (f Filter) Match(r *Record) bool {
	if r.Err != nil {
		return true
	}
	is := func(want, have string) bool { return want == "" || want == have }
	return is(f.Session, r.Session) && is(f.Chain, r.ChainID) && is(f.Hook, r.Hook) && is(f.Action, r.Action) &&
		is(f.EventID, r.EventID) && is(f.Approval, r.ApprovalID) &&
		(f.any == "" || slices.Contains([]string{r.ChainID, r.ApprovalID, r.EventID, r.Session}, f.any)) &&
		(f.Event == "" || r.Event != "" && events.Match(f.Event, r.Event)) &&
		(!f.FailedOpen || r.FailedOpen) &&
		(len(f.Kinds) == 0 || slices.ContainsFunc(f.Kinds, func(k audit.Kind) bool { return ofKind(k, r.Kind) })) &&
		(f.Since.IsZero() || !r.Time.Before(f.Since)) && (f.Until.IsZero() || r.Time.Before(f.Until))
}

func ofKind(want, have audit.Kind) bool {
	begin, several := strings.CutSuffix(string(want), "*")
	return want == have || several && strings.HasPrefix(string(have), begin)
}

// slack is the largest difference between a record's own time and the stream's: clocks differ,
// and a router keeps records while the log is unavailable.
const slack = time.Hour

// ErrEnough is returned by a handler to end a query or an export early without an error.
var ErrEnough = errors.New("enough was read")

// unlessEnough returns err, or nil for [ErrEnough].
func unlessEnough(err error) error {
	if errors.Is(err, ErrEnough) {
		return nil
	}
	return err
}

// span is the part of a segment to read.
type span struct {
	store.Segment
	from, to uint64
}

// spans returns the parts of the segments that were stored since a time, oldest first.
func (l *Log) spans(ctx context.Context, since time.Time) (list []span, err error) {
	segments, err := l.Segments(ctx)
	if err != nil {
		return nil, err
	}
	for _, s := range segments {
		state, err := l.State(ctx, s)
		if err != nil {
			return nil, err
		}
		sp := span{s, max(state.First, 1), state.Last}
		if !since.IsZero() {
			if sp.from, err = firstSince(ctx, s.Stream, since); err != nil {
				return nil, err
			}
		}
		if state.Last > 0 && sp.from > 0 {
			list = append(list, sp)
		}
	}
	return list, nil
}

// Query calls handle for each record that matches the filter, over all segments and in log order.
// It stops at the first error of handle and returns it, except for [ErrEnough].
func (l *Log) Query(ctx context.Context, f Filter, handle func(Record) error) error {
	enough := func(stored time.Time) bool { return !f.Until.IsZero() && stored.After(f.Until.Add(slack)) }
	return l.query(ctx, f, f.storedSince(), enough, handle)
}

// storedSince returns the earliest time at which matching records may have been stored.
func (f Filter) storedSince() time.Time {
	if f.Since.IsZero() {
		return f.Since
	}
	return f.Since.Add(-slack)
}

// query is Query from a storage time on, until enough reports true.
func (l *Log) query(ctx context.Context, f Filter, since time.Time, enough func(stored time.Time) bool, handle func(Record) error) error {
	spans, err := l.spans(ctx, since)
	if err != nil {
		return err
	}
	for _, s := range spans {
		err := l.read(ctx, s.Stream, "", s.from, s.to, func(msg natsx.Record) error {
			if enough(msg.Time) {
				return ErrEnough
			}
			return f.each(s.Segment, msg, handle)
		})
		if err != nil {
			return unlessEnough(err)
		}
	}
	return nil
}

// each passes on the matching records of a message.
func (f Filter) each(s store.Segment, msg natsx.Record, handle func(Record) error) error {
	return message(s.Number, s.Name(), msg, f.excludes, func(r Record) error {
		if !f.Match(&r) {
			return nil
		}
		return handle(r)
	})
}

// excludes reports whether an undecoded line can't match: it lacks a required value, and has no
// escapes that could encode that value.
func (f Filter) excludes(line []byte) bool {
	if !bytes.HasPrefix(line, recordBegin) || line[len(line)-1] != '}' {
		return false
	}
	for _, word := range [...]string{f.Chain, f.EventID, f.Session, f.Approval, f.Hook, f.Action, f.any} {
		if word != "" && !bytes.Contains(line, []byte(word)) && !strings.ContainsFunc(word, escapable) && !bytes.Contains(line, escape) {
			return true
		}
	}
	return false
}

var (
	recordBegin = []byte(`{"time":"`) // as routers write records
	escape      = []byte(`\u`)
)

// escapable reports whether JSON may escape a character.
func escapable(c rune) bool { return c < ' ' || c == '"' || c == '\\' || c == '/' || c >= 0x7f }

// pageSize is the number of messages that are read together in reverse order.
const pageSize = 128

// QueryNewest is [Log.Query], newest record first.
func (l *Log) QueryNewest(ctx context.Context, f Filter, handle func(Record) error) error {
	spans, err := l.spans(ctx, f.storedSince())
	if err != nil {
		return err
	}
	for _, s := range slices.Backward(spans) {
		if err := l.backward(ctx, s, f, handle); err != nil {
			return unlessEnough(err)
		}
	}
	return nil
}

func (l *Log) backward(ctx context.Context, s span, f Filter, handle func(Record) error) error {
	var page []Record
	for to := s.to; to >= s.from; {
		from := s.from
		if to-s.from >= pageSize {
			from = to - pageSize + 1
		}
		page = page[:0]
		err := l.read(ctx, s.Stream, "", from, to, func(msg natsx.Record) error {
			return f.each(s.Segment, msg, func(r Record) error {
				page = append(page, r)
				return nil
			})
		})
		if err != nil {
			return err
		}
		for _, r := range slices.Backward(page) {
			if err := handle(r); err != nil {
				return err
			}
		}
		to = from - 1
	}
	return nil
}
