package query

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/hookrouter/hookrouter/internal/auditlog/index"
	"github.com/hookrouter/hookrouter/internal/auditlog/store"
	"github.com/hookrouter/hookrouter/internal/natsx"
)

// Log is the audit log of a prefix, for reading.
type Log struct {
	conn  *natsx.Conn
	store *store.Log
	// openIndex opens the index on first use: an export does not need it, and may lack the right to
	// read it. It returns nil if there is none.
	openIndex func() (*index.Index, error)
}

// Open opens the log. The error is [store.ErrNoLog] if there is none.
func Open(ctx context.Context, b *natsx.Conn) (*Log, error) {
	t, err := store.Attach(ctx, b)
	if err != nil {
		return nil, err
	}
	return &Log{b, t, sync.OnceValues(func() (*index.Index, error) {
		x, err := index.Open(ctx, b, t)
		if errors.Is(err, index.ErrNone) {
			return nil, nil //nolint:nilnil // no index is no error
		}
		return x, err
	})}, nil
}

// Segments returns all existing segments, oldest first.
func (l *Log) Segments(ctx context.Context) ([]store.Segment, error) { return l.store.Segments(ctx) }

// Segment returns a segment by its number, 0 for the live one. The error is [natsx.ErrNoStream]
// if it does not exist.
func (l *Log) Segment(ctx context.Context, number int) (store.Segment, error) {
	if number == 0 {
		return l.store.Live(), nil
	}
	return l.store.Segment(ctx, number)
}

// Origin returns a segment's origin in checkpoints.
func (l *Log) Origin(s store.Segment) string { return l.store.Origin(s) }

// Name returns the stream name of a segment by its number, whether it exists or not.
func (l *Log) Name(number int) string { return l.store.Name(number) }

// State returns a segment's state from its leader.
func (l *Log) State(ctx context.Context, s store.Segment) (natsx.StreamState, error) {
	return l.store.State(ctx, s)
}

// maxDisconnect bounds a lost connection while reading.
const maxDisconnect = 15 * time.Second

// read calls handle for each message of a stream on a subject, "" for all, in a range of
// sequences.
func (l *Log) read(ctx context.Context, s *natsx.Stream, subject string, from, to uint64, handle func(natsx.Record) error) error {
	for {
		began := from
		var refused error
		err := s.Read(ctx, subject, from, to, func(rec natsx.Record) error {
			from = rec.Sequence + 1
			refused = handle(rec)
			return refused
		})
		if refused != nil {
			return refused
		}
		if err == nil || ctx.Err() != nil || from == began && l.conn.Connected() {
			return err
		}
		if !l.reconnected(ctx, maxDisconnect) {
			return err
		}
	}
}

// reconnected waits until the connection is up, and reports whether it is.
func (l *Log) reconnected(ctx context.Context, patience time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !l.conn.Connected() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// firstSince returns the sequence of the first message stored since a time, 0 for none.
func firstSince(ctx context.Context, s *natsx.Stream, since time.Time) (first uint64, err error) {
	if since.IsZero() {
		return 1, nil
	}
	err = store.ReadAll(ctx, s, "", natsx.Start{Time: since}, func(rec natsx.Record) error {
		first = rec.Sequence
		return ErrEnough
	})
	return first, unlessEnough(err)
}
