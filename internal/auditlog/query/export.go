package query

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/auditlog/store"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// ExportEnd is the end of a segment's export.
type ExportEnd struct {
	Segment store.Segment
	// To is the sequence of the last message; 0 for none.
	To int64
	// Covered says that a checkpoint covers the last message.
	Covered bool

	notes uint64 // last revision in the stream of checkpoints
}

// FindExportEnd finds the end for an export: at least the segment's current last message, and a
// checkpoint. It waits up to patience for the routers to make one, and then for a witness to sign
// it, if the segment has signatures of witnesses. waiting is called with what it waits for.
func (l *Log) FindExportEnd(ctx context.Context, s store.Segment, patience time.Duration, waiting func(what string)) (ExportEnd, error) {
	state, err := l.State(ctx, s)
	if err != nil {
		return ExportEnd{}, err
	}
	a := ExportEnd{Segment: s, To: int64(state.Last)}
	covers := func(newest func() (Note, error), what string) (n Note, ok bool, err error) {
		ok, err = l.await(ctx, patience, func() { waiting(what) }, func() (bool, error) {
			n, err = newest()
			return err == nil && n.OK && n.Size >= a.To, err
		})
		return n, ok, err
	}
	if n, err := l.LastNote(ctx, s.Name()); a.To == 0 || err == nil && n.Later {
		patience = 0 // there is nothing to cover, or no way to know whether it is covered
	}
	n, covered, err := covers(func() (Note, error) { return l.LastNote(ctx, s.Name()) }, "a router to sign a checkpoint over the last message")
	if err != nil {
		return a, err
	}
	if covered {
		a.Covered = true
		_, err := l.lastCosigned(ctx, s.Name())
		if err == nil {
			co, ok, err := covers(func() (Note, error) { return l.lastCosigned(ctx, s.Name()) }, "a witness to sign the checkpoint")
			if err != nil {
				return a, err
			}
			if ok {
				n = co
			}
		} else if !errors.Is(err, natsx.ErrNoKey) {
			return a, err
		}
		a.To = n.Size
	}
	notes, err := l.store.CheckpointNotes().State(ctx, store.CheckpointSubjects(l.conn))
	a.notes = notes.Last
	return a, err
}

// await polls until the condition is true or patience is over, which is not an error.
func (l *Log) await(ctx context.Context, patience time.Duration, waiting func(), is func() (bool, error)) (bool, error) {
	end := time.NewTimer(patience)
	defer end.Stop()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for announced := false; ; announced = true {
		ok, err := is()
		if ok {
			return true, nil
		}
		if err != nil && !errors.Is(err, natsx.ErrNoKey) {
			return false, err
		}
		if !announced && patience > 0 {
			waiting()
		}
		select {
		case <-tick.C:
		case <-end.C:
			return false, nil
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}

// Header returns the header of a segment's export.
func (l *Log) Header(s store.Segment) audit.Header {
	return audit.Header{Origin: l.Origin(s), Prefix: l.conn.Prefix()}
}

// Export writes the messages of a segment after the last one that w has. It writes each
// checkpoint right after the message whose sequence is its size, followed by its co-signed
// copies. progress is called with the written sequences.
func (l *Log) Export(ctx context.Context, w *audit.Writer, a ExportEnd, progress func(seq int64)) error {
	witnesses, err := l.witnesses(ctx, a.Segment.Name())
	if err != nil {
		return err
	}
	e := exporter{w: w, aim: a}
	e.plain = &cursor{log: l, subject: store.CheckpointSubject(l.conn, a.Segment.Name()), parse: parsePlain, next: 1, to: a.notes}
	for subject := range witnesses {
		e.cosigned = append(e.cosigned, &cursor{log: l, subject: subject, parse: parseCosigned, next: 1, to: a.notes})
	}
	slices.SortFunc(e.cosigned, func(a, b *cursor) int { return strings.Compare(a.subject, b.subject) })
	if err := e.resume(ctx); err != nil {
		return err
	}
	err = l.read(ctx, a.Segment.Stream, "", uint64(w.Last())+1, uint64(a.To), func(msg natsx.Record) error {
		seq := int64(msg.Sequence)
		if err := e.notes(ctx, seq-1); err != nil {
			return err
		}
		if err := w.Message(seq, msg.Time, msg.Subject, msg.Body); err != nil {
			return err
		}
		progress(seq)
		return nil
	})
	if err == nil {
		err = e.notes(ctx, a.To)
	}
	if err != nil {
		return err
	}
	return w.Flush()
}

// exporter inserts checkpoints in their places.
type exporter struct {
	w        *audit.Writer
	aim      ExportEnd
	plain    *cursor
	cosigned []*cursor
	last     string // text of the last written checkpoint
}

// resume skips the checkpoints that the file already has.
func (e *exporter) resume(ctx context.Context) error {
	signed := e.w.LastCheckpoint()
	if signed == nil {
		return nil
	}
	e.last = ParseNote(signed).Text
	for {
		n, err := e.plain.peek(ctx)
		if err != nil {
			return err
		}
		if n == nil {
			return fmt.Errorf("the last checkpoint of the file is not one of the log %s: it is of another log, or the log was created again", e.w.Header().Origin)
		}
		e.plain.pop()
		if n.Text == e.last {
			return nil
		}
	}
}

// notes writes the checkpoints that belong right after message seq or before.
func (e *exporter) notes(ctx context.Context, seq int64) error {
	for {
		from, n, err := e.next(ctx, min(seq, e.aim.To))
		if err != nil || n == nil {
			return err
		}
		if err := e.w.Checkpoint(n.Signed); err != nil {
			return err
		}
		e.last = n.Text
		from.pop()
	}
}

// next returns the next checkpoint up to a size; nil for none. A co-signed copy follows its
// checkpoint.
func (e *exporter) next(ctx context.Context, limit int64) (from *cursor, best *Note, err error) {
	for _, c := range e.cosigned {
		n, err := e.peekCosigned(ctx, c)
		if err != nil {
			return nil, nil, err
		}
		if n == nil || n.Size > limit {
			continue
		}
		if n.Text == e.last {
			return c, n, nil
		}
		if best == nil || n.Size < best.Size {
			from, best = c, n
		}
	}
	n, err := e.plain.peek(ctx)
	if err == nil && n != nil && (!n.OK || n.Size <= limit) && (best == nil || !n.OK || n.Size <= best.Size) {
		from, best = e.plain, n
	}
	return from, best, err
}

// peekCosigned returns the next copy of a witness. It skips malformed copies and those whose
// place has passed: a copy adds a signature, not content.
func (e *exporter) peekCosigned(ctx context.Context, c *cursor) (*Note, error) {
	for {
		n, err := c.peek(ctx)
		if err != nil || n == nil {
			return nil, err
		}
		if n.OK && n.Size >= e.w.Last() {
			return n, nil
		}
		c.pop()
	}
}

// ReadExport calls take with each record of an export, which it does not verify. It stops at
// the first error of take and returns it.
func ReadExport(ctx context.Context, in io.Reader, take func(Record) error) error {
	r, err := audit.NewReader(in)
	if err != nil {
		return err
	}
	for ctx.Err() == nil {
		entry, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		for _, line := range entry.Lines {
			if err := take(Decode(bytes.Clone(line))); err != nil { // the reader reuses line
				return err
			}
		}
	}
	return context.Cause(ctx)
}
