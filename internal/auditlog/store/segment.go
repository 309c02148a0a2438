package store

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// Segment is one stream of the log.
type Segment struct {
	*natsx.Stream
	Number int // from 1
}

// Origin returns a segment's origin in checkpoints.
func (l *Log) Origin(s Segment) string { return audit.Origin(l.conn.Prefix(), s.Name()) }

// Subjects returns the subjects of a log's live segment.
func Subjects(c *natsx.Conn) []string { return []string{c.Of("audit", ">")} }

// SegmentName returns the stream name of a segment by its number; first is the name of the log's first
// segment.
func SegmentName(first string, number int) string {
	if number == 1 {
		return first
	}
	return first + "_" + strconv.Itoa(number)
}

// SegmentNumber returns the number in the name of a segment's stream; first is the name of the log's
// first segment. ok is false for any other name.
func SegmentNumber(first, name string) (number int, ok bool) {
	if name == first {
		return 1, true
	}
	text, ok := strings.CutPrefix(name, first+"_")
	number, err := strconv.Atoi(text)
	if !ok || err != nil || number < 2 || text != strconv.Itoa(number) {
		return 0, false
	}
	return number, true
}

// Name returns the stream name of a segment by its number, whether it exists or not.
func (l *Log) Name(number int) string { return SegmentName(l.conn.AuditStream(), number) }

func (l *Log) number(name string) (int, error) {
	number, ok := SegmentNumber(l.conn.AuditStream(), name)
	if !ok {
		return 0, fmt.Errorf("the stream %s listens on %s, but is not a segment of this log", name, l.conn.Of("audit", ">"))
	}
	return number, nil
}

// Segment opens a segment by its number. The error is [natsx.ErrNoStream] if it does not exist.
func (l *Log) Segment(ctx context.Context, number int) (Segment, error) {
	if live := l.Live(); live.Number == number {
		return live, nil
	}
	s, err := l.conn.OpenStream(ctx, l.Name(number))
	return Segment{s, number}, err
}

// Segments returns all existing segments, oldest first. Gaps in their numbers show missing ones.
func (l *Log) Segments(ctx context.Context) (list []Segment, err error) {
	for s, err := range l.from(ctx, 1) {
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}

// After returns the first existing segment after that number. The error is [natsx.ErrNoStream]
// if there is none.
func (l *Log) After(ctx context.Context, number int) (Segment, error) {
	for s, err := range l.from(ctx, number+1) {
		return s, err
	}
	return Segment{}, natsx.ErrNoStream
}

// from iterates over the existing segments from one number to the live one. An error is the last.
func (l *Log) from(ctx context.Context, number int) iter.Seq2[Segment, error] {
	return func(yield func(Segment, error) bool) {
		for number := max(number, 1); number <= l.Live().Number; number++ {
			s, err := l.Segment(ctx, number)
			if errors.Is(err, natsx.ErrNoStream) {
				continue // removed by an operator
			}
			if !yield(s, err) || err != nil {
				return
			}
		}
	}
}

// Records calls handle with the body of each message that routers wrote, oldest first, until it
// returns false.
func (l *Log) Records(ctx context.Context, handle func(body []byte) (more bool)) error {
	enough := errors.New("enough was read")
	for s, err := range l.from(ctx, 1) {
		if err != nil {
			return err
		}
		err = ReadAll(ctx, s.Stream, l.conn.Of("audit", "w", ">"), natsx.Start{}, func(rec natsx.Record) error {
			if !handle(rec.Body) {
				return enough
			}
			return nil
		})
		if errors.Is(err, enough) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// State returns the state of a segment, from its leader.
func (l *Log) State(ctx context.Context, s Segment) (natsx.StreamState, error) {
	return s.Stream.State(ctx, Subjects(l.conn))
}

// Seal closes the live segment and creates the next one. It is for operators.
func (l *Log) Seal(ctx context.Context) (sealed Segment, err error) {
	sealed = l.Live()
	if err := sealed.Stream.Seal(ctx, l.conn.Of("sealed", sealed.Name())); err != nil {
		return sealed, err
	}
	if _, err := l.conn.CreateNext(ctx, l.Name(sealed.Number+1), Subjects(l.conn), sealed.Stream); err != nil {
		return sealed, err
	}
	return sealed, l.Refresh(ctx)
}
