package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hookrouter/hookrouter/internal/natsx"
)

// Trail is the audit log of a prefix. It is safe for concurrent use.
type Log struct {
	bus      *natsx.Conn
	replicas int
	create   bool

	mu      sync.Mutex // guards what follows; never held while something is sent or read
	live    Segment
	changed chan struct{} // closed and replaced when there is another live segment
	notes   *natsx.Stream // of the checkpoints
}

// Segment is one stream of the log.
type Segment struct {
	*natsx.Stream
	Number int // from 1
}

// ErrNoLog means that there is no audit log yet.
var ErrNoLog = errors.New("there is no audit log: no router has run here, or with another --prefix")

// Open opens the log, and makes it where it is missing; replicas is that of
// [natsx.BucketOptions].
func Open(ctx context.Context, b *natsx.Conn, replicas int) (*Log, error) {
	t := &Log{bus: b, replicas: replicas, create: true, changed: make(chan struct{})}
	if err := t.open(ctx); err != nil {
		return nil, fmt.Errorf("open the audit log: %w: an operator makes what is missing with `hookctl audit bootstrap --prefix %s`", err, b.Prefix())
	}
	return t, nil
}

// Attach opens a log that is there, to read it. The error is [ErrNoLog] where there
// is none.
func Attach(ctx context.Context, b *natsx.Conn) (*Log, error) {
	t := &Log{bus: b, changed: make(chan struct{})}
	if err := t.open(ctx); err != nil {
		if errors.Is(err, natsx.ErrNoStream) {
			return nil, ErrNoLog
		}
		return nil, fmt.Errorf("open the audit log: %w", err)
	}
	return t, nil
}

func (t *Log) open(ctx context.Context) (err error) {
	name := CheckpointStream(t.bus)
	t.notes, err = t.bus.OpenStream(ctx, name)
	if errors.Is(err, natsx.ErrNoStream) && t.create {
		t.notes, err = t.bus.CreateStream(ctx, name, CheckpointSubjects(t.bus), t.replicas)
	}
	if err != nil {
		return err
	}
	return t.Refresh(ctx)
}

// Subjects are what the live segment listens on.
func (t *Log) Subjects() []string { return Subjects(t.bus) }

// Subjects are what the live segment of a log listens on.
func Subjects(b *natsx.Conn) []string { return []string{b.Of("audit", ">")} }

// CheckpointStream is the stream of a log's checkpoints.
func CheckpointStream(b *natsx.Conn) string { return strings.ToUpper(b.Prefix()) + "_CHECKPOINTS" }

// CheckpointSubjects are what it listens on.
func CheckpointSubjects(b *natsx.Conn) []string {
	return []string{b.Of("checkpoint", ">"), b.Of("cosigned", ">")}
}

// Live is the segment that takes records.
func (t *Log) Live() Segment {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.live
}

// Changed is closed when another segment is live.
func (t *Log) Changed() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.changed
}

// Refresh finds the live segment: after an append met [natsx.ErrClosed]. A trail that
// was opened to write makes the next one where none is live.
func (t *Log) Refresh(ctx context.Context) error {
	number := max(t.Live().Number, 1)
	name, err := t.bus.StreamOn(ctx, t.bus.Of("audit", "w", "any"))
	switch {
	case err == nil:
		if number, err = t.number(name); err != nil {
			return err
		}
	case !errors.Is(err, natsx.ErrNoStream):
		return err
	default:
		if number, err = t.next(ctx, number); err != nil {
			return err
		}
	}
	s, err := t.bus.OpenStream(ctx, t.name(number))
	if errors.Is(err, natsx.ErrNoStream) && t.create {
		s, err = t.bus.CreateStream(ctx, t.name(number), t.Subjects(), t.replicas)
	}
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.live.Stream == nil || t.live.Number != number {
		t.live = Segment{s, number}
		close(t.changed)
		t.changed = make(chan struct{})
	}
	return nil
}

// next is the number of the segment after the last that is there, from one on, where that
// one is sealed; for a reader it is the last. The first may have been removed, so the
// sealed ones that are there say where to begin: a number is never used again.
func (t *Log) next(ctx context.Context, number int) (int, error) {
	names, err := t.bus.StreamsOn(ctx, t.bus.Of("sealed", ">"))
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		if sealed, err := t.number(name); err == nil {
			number = max(number, sealed)
		}
	}
	var last *natsx.Stream
	for ; ; number++ {
		s, err := t.bus.OpenStream(ctx, t.name(number))
		if err == nil {
			last = s
			continue
		}
		if !errors.Is(err, natsx.ErrNoStream) {
			return 0, err
		}
		break
	}
	switch {
	case last == nil:
		return number, nil
	case !t.create:
		return number - 1, nil
	}
	state, err := last.State(ctx, t.Subjects())
	if err != nil {
		return 0, err
	}
	if !state.Sealed { // it lost its subjects: drift, and no reason to begin another
		return number - 1, nil
	}
	return number, t.await(ctx, number)
}

// await gives who has sealed a segment a moment to make the next, which this process may
// have no right to.
func (t *Log) await(ctx context.Context, number int) error {
	for range 10 {
		_, err := t.bus.OpenStream(ctx, t.name(number))
		if !errors.Is(err, natsx.ErrNoStream) {
			return err
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// SegmentName is the name of a segment's stream, by its number; first is that of the
// log's first segment.
func SegmentName(first string, number int) string {
	if number == 1 {
		return first
	}
	return first + "_" + strconv.Itoa(number)
}

func (t *Log) name(number int) string { return SegmentName(t.bus.AuditStream(), number) }

func (t *Log) number(name string) (int, error) {
	if name == t.bus.AuditStream() {
		return 1, nil
	}
	text, ok := strings.CutPrefix(name, t.bus.AuditStream()+"_")
	number, err := strconv.Atoi(text)
	if !ok || err != nil || number < 2 {
		return 0, fmt.Errorf("the stream %s listens on %s, and it is none of this log's", name, t.bus.Of("audit", ">"))
	}
	return number, nil
}

// Segment opens one segment by its number. The error is [natsx.ErrNoStream] where it is
// not there, or not any more.
func (t *Log) Segment(ctx context.Context, number int) (Segment, error) {
	if live := t.Live(); live.Number == number {
		return live, nil
	}
	s, err := t.bus.OpenStream(ctx, t.name(number))
	return Segment{s, number}, err
}

// Segments are all that are there, the oldest first. Their numbers say what is missing.
func (t *Log) Segments(ctx context.Context) (list []Segment, err error) {
	for number := 1; number <= t.Live().Number; number++ {
		s, err := t.Segment(ctx, number)
		if errors.Is(err, natsx.ErrNoStream) {
			continue
		}
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}

// Seal closes the live segment and makes the next: for operators.
func (t *Log) Seal(ctx context.Context) (sealed Segment, err error) {
	sealed = t.Live()
	if err := sealed.Stream.Seal(ctx, t.bus.Of("sealed", sealed.Name())); err != nil {
		return sealed, err
	}
	if _, err := t.bus.CreateNext(ctx, t.name(sealed.Number+1), t.Subjects(), sealed.Stream); err != nil {
		return sealed, err
	}
	return sealed, t.Refresh(ctx)
}
