package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hookrouter/hookrouter/internal/natsx"
)

// DecisionSubject is the subject of an approval request's decision, "*" for all.
func DecisionSubject(c *natsx.Conn, id string) string { return c.Of("audit", "decision", id) }

// Decide appends the decision on an approval request, which was made when the segment of that
// number was live. The error is [natsx.ErrRevision] if it is decided already. After any other
// error the decision may be in the log.
func (l *Log) Decide(ctx context.Context, number int, id string, body []byte) error {
	for ; ; number++ {
		s, err := l.Segment(ctx, number)
		if errors.Is(err, natsx.ErrNoStream) && number < l.Live().Number {
			continue // removed by an operator
		}
		if err != nil {
			return err
		}
		_, err = s.AppendFirst(ctx, DecisionSubject(l.conn, id), body)
		if !errors.Is(err, natsx.ErrClosed) {
			return err
		}
		if _, err := s.Newest(ctx, DecisionSubject(l.conn, id)); !errors.Is(err, natsx.ErrNoKey) {
			if err == nil {
				err = natsx.ErrRevision
			}
			return err
		}
		if err := l.waitBeyond(ctx, number); err != nil {
			return err
		}
	}
}

// Decision finds the decision on an approval request, which was made when the segment of that
// number was live, and the segment that holds it. The error is [natsx.ErrNoKey] if there is
// none.
func (l *Log) Decision(ctx context.Context, number int, id string) (in Segment, rec natsx.Record, err error) {
	found := errors.New("found")
	err = l.each(ctx, number, func(s Segment) (err error) {
		if rec, err = s.Newest(ctx, DecisionSubject(l.conn, id)); err == nil {
			in, err = s, found
		}
		if errors.Is(err, natsx.ErrNoKey) {
			return nil
		}
		return err
	})
	if err == nil {
		err = natsx.ErrNoKey
	}
	if errors.Is(err, found) {
		err = nil
	}
	return in, rec, err
}

// waitBeyond waits until a segment after that number is live.
func (l *Log) waitBeyond(ctx context.Context, number int) error {
	for l.Live().Number <= number {
		if err := l.Refresh(ctx); err != nil {
			return err
		}
		if l.Live().Number > number {
			return nil
		}
		if err := pause(ctx, createPoll); err != nil {
			return fmt.Errorf("segment %d of the audit log is closed and there is no next one yet: %w", number, err)
		}
	}
	return nil
}

// FollowDecisions calls handle for each decision stored since a time, with the number of its
// segment, over all segments, oldest first. It calls caughtUp once, after all current decisions. It returns when ctx ends or the
// log can't be followed.
func (l *Log) FollowDecisions(ctx context.Context, since time.Time, handle func(segment int, rec natsx.Record), caughtUp func()) error {
	segments, err := l.Segments(ctx)
	if err != nil {
		return err
	}
	subject := DecisionSubject(l.conn, "*")
	from := map[int]natsx.Start{} // by segment: after the last handled message
	follow := func(number int) (natsx.Start, func(natsx.Record) error) {
		start, begun := from[number]
		if !begun {
			start.Time = since
		}
		return start, func(rec natsx.Record) error {
			handle(number, rec)
			from[number] = natsx.Start{Sequence: rec.Sequence + 1}
			return nil
		}
	}
	for {
		live := segments[len(segments)-1]
		for _, s := range segments[:len(segments)-1] {
			start, each := follow(s.Number)
			if err := readAll(ctx, s.Stream, subject, start, each); err != nil {
				return err
			}
		}
		changed := l.Changed()
		if l.Live().Number != live.Number {
			closed := make(chan struct{})
			close(closed)
			changed = closed
		}
		start, each := follow(live.Number)
		if err := followUntil(ctx, live, subject, start, each, caughtUp, changed); err != nil {
			return err
		}
		caughtUp = func() {}
		if segments, err = l.Segments(ctx); err != nil {
			return err
		}
		for len(segments) > 1 && segments[0].Number < live.Number {
			segments = segments[1:]
		}
	}
}

// followUntil follows a segment until another is live.
func followUntil(ctx context.Context, s Segment, subject string, start natsx.Start, handle func(natsx.Record) error, caughtUp func(), changed <-chan struct{}) error {
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
	err := s.Follow(inner, subject, start, handle, caughtUp)
	if ctx.Err() == nil && inner.Err() != nil {
		return nil
	}
	return err
}
