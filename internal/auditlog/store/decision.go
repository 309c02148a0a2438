package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hookrouter/hookrouter/internal/natsx"
)

// DecisionSubject is where the decision on a question stands, "*" for all.
func DecisionSubject(b *natsx.Conn, id string) string { return b.Of("audit", "decision", id) }

// Decide appends the decision on a question that was asked when the segment of that
// number was live. The error is [natsx.ErrRevision] where it is decided already; after
// another the decision may stand in the log.
func (t *Log) Decide(ctx context.Context, number int, id string, body []byte) error {
	for ; ; number++ {
		s, err := t.Segment(ctx, number)
		if errors.Is(err, natsx.ErrNoStream) && number < t.Live().Number {
			continue // removed by an operator
		}
		if err != nil {
			return err
		}
		_, err = s.AppendFirst(ctx, DecisionSubject(t.bus, id), body)
		if !errors.Is(err, natsx.ErrClosed) {
			return err
		}
		if _, err := s.Newest(ctx, DecisionSubject(t.bus, id)); !errors.Is(err, natsx.ErrNoKey) {
			if err == nil {
				err = natsx.ErrRevision
			}
			return err
		}
		if err := t.waitBeyond(ctx, number); err != nil {
			return err
		}
	}
}

// Decision reads the decision on a question. The error is [natsx.ErrNoKey] where there is
// none.
func (t *Log) Decision(ctx context.Context, number int, id string) (natsx.Record, error) {
	for ; ; number++ {
		s, err := t.Segment(ctx, number)
		if err == nil {
			var rec natsx.Record
			if rec, err = s.Newest(ctx, DecisionSubject(t.bus, id)); err == nil {
				return rec, nil
			}
		}
		if !errors.Is(err, natsx.ErrNoKey) && !errors.Is(err, natsx.ErrNoStream) {
			return natsx.Record{}, err
		}
		if number >= t.Live().Number {
			return natsx.Record{}, natsx.ErrNoKey
		}
	}
}

// waitBeyond waits until a later segment than that of the number is live.
func (t *Log) waitBeyond(ctx context.Context, number int) error {
	for t.Live().Number <= number {
		if err := t.Refresh(ctx); err != nil {
			return err
		}
		if t.Live().Number > number {
			return nil
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("segment %d of the audit log is closed and there is no next one yet: %w", number, ctx.Err())
		}
	}
	return nil
}

// FollowDecisions calls handle for each decision stored since a time, over all
// segments, the oldest first; current is called once, when all that was there is
// handled. It returns when ctx ends or the log can't be followed any more.
func (t *Log) FollowDecisions(ctx context.Context, since time.Time, handle func(natsx.Record), current func()) error {
	segments, err := t.Segments(ctx)
	if err != nil {
		return err
	}
	subject := DecisionSubject(t.bus, "*")
	from := map[int]natsx.Start{} // by segment: behind what was handled
	follow := func(number int) (natsx.Start, func(natsx.Record) error) {
		start, begun := from[number]
		if !begun {
			start.Time = since
		}
		return start, func(rec natsx.Record) error {
			handle(rec)
			from[number] = natsx.Start{Sequence: rec.Sequence + 1}
			return nil
		}
	}
	for {
		live := segments[len(segments)-1]
		for _, s := range segments[:len(segments)-1] {
			start, each := follow(s.Number)
			if err := readAll(ctx, s, subject, start, each); err != nil {
				return err
			}
		}
		changed := t.Changed()
		if t.Live().Number != live.Number {
			closed := make(chan struct{})
			close(closed)
			changed = closed
		}
		start, each := follow(live.Number)
		if err := followUntil(ctx, live, subject, start, each, current, changed); err != nil {
			return err
		}
		current = func() {}
		if segments, err = t.Segments(ctx); err != nil {
			return err
		}
		for len(segments) > 1 && segments[0].Number < live.Number {
			segments = segments[1:]
		}
	}
}

// readAll reads what a sealed segment holds.
func readAll(ctx context.Context, s Segment, subject string, start natsx.Start, handle func(natsx.Record) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	done := errors.New("all is read")
	err := s.Follow(ctx, subject, start, handle, func() { cancel(done) })
	if errors.Is(context.Cause(ctx), done) {
		return nil
	}
	return err
}

// followUntil follows a segment until another is live.
func followUntil(ctx context.Context, s Segment, subject string, start natsx.Start, handle func(natsx.Record) error, current func(), changed <-chan struct{}) error {
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		select {
		case <-changed:
			cancel()
		case <-stop:
		}
	}()
	err := s.Follow(inner, subject, start, handle, current)
	if ctx.Err() == nil && inner.Err() != nil {
		return nil
	}
	return err
}
