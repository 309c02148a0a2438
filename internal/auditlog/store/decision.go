package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hookrouter/hookrouter/internal/natsx"
)

// DecisionSubject returns the subject of an approval request's decision, "*" for all.
func DecisionSubject(c *natsx.Conn, id string) string { return c.Of("audit", "decision", id) }

// Decide appends the decision on an approval request that was made when the segment of that number
// was live. The error is [natsx.ErrRevision] if it is decided already. After any other error the
// decision may be in the log.
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

// Decision finds the decision on an approval request that was made when the segment of that number
// was live, and the segment that contains it. The error is [natsx.ErrNoKey] if there is none.
func (l *Log) Decision(ctx context.Context, number int, id string) (in Segment, rec natsx.Record, err error) {
	for s, err := range l.from(ctx, number) {
		if err == nil {
			rec, err = s.Newest(ctx, DecisionSubject(l.conn, id))
		}
		if !errors.Is(err, natsx.ErrNoKey) {
			return s, rec, err
		}
	}
	return Segment{}, natsx.Record{}, natsx.ErrNoKey
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
// segment, over all segments, oldest first. It calls caughtUp once, after all current decisions. It
// returns when ctx ends or the log can't be followed.
func (l *Log) FollowDecisions(ctx context.Context, since time.Time, handle func(segment int, rec natsx.Record), caughtUp func()) error {
	subject := DecisionSubject(l.conn, "*")
	next := map[int]natsx.Start{} // by segment: after the last handled message
	oldest := 0                   // the segments before it are final, and handled
	caughtUp = sync.OnceFunc(caughtUp)
	for {
		changed := l.Changed()
		segments, err := l.Segments(ctx)
		if err != nil {
			return err
		}
		live := segments[len(segments)-1].Number
		for _, s := range segments {
			if s.Number < oldest {
				continue
			}
			start, begun := next[s.Number]
			if !begun {
				start.Time = since
			}
			each := func(rec natsx.Record) error {
				handle(s.Number, rec)
				next[s.Number] = natsx.Start{Sequence: rec.Sequence + 1}
				return nil
			}
			if s.Number < live {
				err = ReadAll(ctx, s.Stream, subject, start, each)
			} else {
				following, stop := until(ctx, changed)
				err = s.Follow(following, subject, start, each, caughtUp)
				if following.Err() != nil && ctx.Err() == nil {
					err = nil // another segment is live
				}
				stop()
			}
			if err != nil {
				return err
			}
		}
		oldest = live
	}
}

// until returns a context that ends with ctx, when changed is closed, or when stop is called.
func until(ctx context.Context, changed <-chan struct{}) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case <-changed:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}
