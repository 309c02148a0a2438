package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hookrouter/hookrouter/internal/natsx"
)

// Log is the audit log of a prefix. It is safe for concurrent use.
type Log struct {
	conn     *natsx.Conn
	replicas int
	create   bool
	notes    *natsx.Stream // of the checkpoints; not changed after open

	mu      sync.Mutex // guards the fields below; never held during I/O
	live    Segment
	changed chan struct{} // closed and replaced when another segment is live
}

// ErrNoLog means that there is no audit log yet.
var ErrNoLog = errors.New("there is no audit log: no router has run here, or with another --prefix")

// Open opens the log, and creates it if it is missing; replicas is that of
// [natsx.BucketOptions].
func Open(ctx context.Context, conn *natsx.Conn, replicas int) (*Log, error) {
	l := &Log{conn: conn, replicas: replicas, create: true, changed: make(chan struct{})}
	if err := l.open(ctx); err != nil {
		return nil, fmt.Errorf("open the audit log: %w: an operator can create what is missing with `hookctl audit bootstrap --prefix %s`", err, conn.Prefix())
	}
	return l, nil
}

// Attach opens an existing log to read it. The error is [ErrNoLog] if there is none.
func Attach(ctx context.Context, conn *natsx.Conn) (*Log, error) {
	l := &Log{conn: conn, changed: make(chan struct{})}
	if err := l.open(ctx); err != nil {
		if errors.Is(err, natsx.ErrNoStream) {
			return nil, ErrNoLog
		}
		return nil, fmt.Errorf("open the audit log: %w", err)
	}
	return l, nil
}

func (l *Log) open(ctx context.Context) (err error) {
	name := CheckpointStream(l.conn)
	l.notes, err = l.conn.OpenStream(ctx, name)
	if errors.Is(err, natsx.ErrNoStream) && l.create {
		l.notes, err = l.conn.CreateStream(ctx, name, CheckpointSubjects(l.conn), l.replicas)
	}
	if err != nil {
		return err
	}
	return l.Refresh(ctx)
}

// Live returns the segment that takes records.
func (l *Log) Live() Segment {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.live
}

// Changed returns a channel that is closed when another segment is live.
func (l *Log) Changed() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.changed
}

// Refresh finds the live segment, after an append failed with [natsx.ErrClosed]. A log that
// was opened with [Open] creates the next segment if none is live.
func (l *Log) Refresh(ctx context.Context) error {
	number := max(l.Live().Number, 1)
	name, err := l.conn.StreamOn(ctx, l.conn.Of("audit", "w", "any"))
	switch {
	case err == nil:
		if number, err = l.number(name); err != nil {
			return err
		}
	case !errors.Is(err, natsx.ErrNoStream):
		return err
	default:
		if number, err = l.next(ctx, number); err != nil {
			return err
		}
	}
	s, err := l.conn.OpenStream(ctx, l.Name(number))
	if errors.Is(err, natsx.ErrNoStream) && l.create {
		s, err = l.conn.CreateStream(ctx, l.Name(number), Subjects(l.conn), l.replicas)
	}
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.live.Stream == nil || l.live.Number != number {
		l.live = Segment{s, number}
		close(l.changed)
		l.changed = make(chan struct{})
	}
	return nil
}

// next returns the number of the segment to open if none is live: the one after the last existing one
// if that is sealed, else the last. The first segments may have been removed, so the search starts
// after the sealed ones: a number is never reused.
func (l *Log) next(ctx context.Context, number int) (int, error) {
	names, err := l.conn.StreamsOn(ctx, l.conn.Of("sealed", ">"))
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		if sealed, err := l.number(name); err == nil {
			number = max(number, sealed)
		}
	}
	var last *natsx.Stream
	for ; ; number++ {
		s, err := l.conn.OpenStream(ctx, l.Name(number))
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
	case !l.create:
		return number - 1, nil
	}
	state, err := last.State(ctx, Subjects(l.conn))
	if err != nil {
		return 0, err
	}
	if !state.Sealed { // it lost its subjects: that is drift, not a reason for a new segment
		return number - 1, nil
	}
	return number, l.waitCreated(ctx, number)
}

// How long to wait for a segment that another process is about to create.
const (
	createPoll  = 20 * time.Millisecond
	createPolls = 10
)

// waitCreated gives the process that sealed a segment a moment to create the next one. This process
// may lack the permission to create it.
func (l *Log) waitCreated(ctx context.Context, number int) error {
	for range createPolls {
		_, err := l.conn.OpenStream(ctx, l.Name(number))
		if !errors.Is(err, natsx.ErrNoStream) {
			return err
		}
		if err := pause(ctx, createPoll); err != nil {
			return err
		}
	}
	return nil
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
