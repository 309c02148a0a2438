package query

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hookrouter/hookrouter/internal/auditlog/store"
	"github.com/hookrouter/hookrouter/internal/natsx"
)

// Position is a position between two messages of the log: those after it are not read yet.
type Position struct {
	Segment int
	Seq     uint64 // of the last read message; 0 for none
}

// Newest returns the last n records that match the filter, in log order, and the position after
// everything it read.
func (l *Log) Newest(ctx context.Context, f Filter, n int) (list []Record, end Position, err error) {
	spans, err := l.spans(ctx, f.storedSince())
	if err != nil {
		return nil, end, err
	}
	end.Segment = l.store.Live().Number
	if len(spans) > 0 {
		if last := spans[len(spans)-1]; last.Number == end.Segment {
			end.Seq = last.to
		}
	}
	for _, s := range slices.Backward(spans) {
		if len(list) >= n {
			break
		}
		err := l.backward(ctx, s, f, func(r Record) error {
			if list = append(list, r); len(list) >= n {
				return ErrEnough
			}
			return nil
		})
		if err != nil && !errors.Is(err, ErrEnough) {
			return nil, end, err
		}
	}
	slices.Reverse(list)
	return list, end, nil
}

// turnover is the interval at which a follower looks for a new live segment.
const turnover = time.Second

// Follow calls handle for each record after a position that matches the filter, as they arrive,
// across segments. It waits while NATS is disconnected, and returns the error of handle, or when
// ctx ends.
func (l *Log) Follow(ctx context.Context, p Position, f Filter, handle func(Record) error) error {
	for {
		s, err := l.Segment(ctx, p.Segment)
		switch {
		case errors.Is(err, natsx.ErrNoStream) && p.Segment < l.store.Live().Number: // removed meanwhile
			p = Position{p.Segment + 1, 0}
			continue
		case err != nil:
			return err
		}
		if err := l.followSegment(ctx, s, &p, f, handle); err != nil {
			return err
		}
		p = Position{p.Segment + 1, 0}
	}
}

// followSegment follows a segment until a later one is live and this one is read to its end.
func (l *Log) followSegment(ctx context.Context, s store.Segment, p *Position, f Filter, handle func(Record) error) error {
	var refused error
	take := func(msg natsx.Record) error {
		p.Seq = msg.Sequence
		refused = f.each(s, msg, handle)
		return refused
	}
	for {
		inner, cancel := context.WithCancel(ctx)
		closed := make(chan bool, 1)
		go func() {
			defer cancel()
			closed <- l.waitBeyond(inner, s.Number)
		}()
		err := s.Follow(inner, "", natsx.Start{Sequence: p.Seq + 1}, take, func() {})
		cancel()
		switch over := <-closed; {
		case refused != nil:
			return refused
		case ctx.Err() != nil:
			return ctx.Err()
		case over:
			return l.rest(ctx, s, p, take)
		case l.conn.Connected() && err != nil && !l.reading(ctx, s):
			return fmt.Errorf("%w; segment %d of the audit log is gone", err, s.Number)
		}
		if err := l.pause(ctx); err != nil {
			return err
		}
	}
}

// rest reads the remainder of a closed segment.
func (l *Log) rest(ctx context.Context, s store.Segment, p *Position, take func(natsx.Record) error) error {
	state, err := l.State(ctx, s)
	if err != nil {
		return err
	}
	return l.read(ctx, s.Stream, "", p.Seq+1, state.Last, take)
}

// reading reports whether a segment seems readable.
func (l *Log) reading(ctx context.Context, s store.Segment) bool {
	ctx, cancel := context.WithTimeout(ctx, maxDisconnect)
	defer cancel()
	_, err := l.State(ctx, s)
	return err == nil || !l.conn.Connected()
}

// pause waits a moment, and as long as NATS is disconnected.
func (l *Log) pause(ctx context.Context) error {
	select {
	case <-time.After(100 * time.Millisecond):
	case <-ctx.Done():
		return ctx.Err()
	}
	for !l.reconnected(ctx, time.Minute) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// waitBeyond waits until a segment after that number is live, or ctx ends.
func (l *Log) waitBeyond(ctx context.Context, number int) bool {
	tick := time.NewTicker(turnover)
	defer tick.Stop()
	for {
		if l.store.Live().Number > number {
			return true
		}
		select {
		case <-tick.C:
			_ = l.store.Refresh(ctx) // reading the segment reveals any failure
		case <-ctx.Done():
			return false
		}
	}
}
