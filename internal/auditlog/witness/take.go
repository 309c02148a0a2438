package witness

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/auditlog/store"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// pace is the interval at which a witness that catches up saves its position.
const pace = 5 * time.Second

// take checks the next checkpoint of any segment, and signs it if it is the newest.
func (w *Witness) take(ctx context.Context, rec natsx.Record) error {
	number, ok := w.segmentNumber(rec.Subject)
	if !ok {
		return w.conflict(nil, "checkpoint %d belongs to no segment of this log: its subject is %s", rec.Sequence, rec.Subject)
	}
	body, err := store.DecodeCheckpoint(rec)
	if err != nil {
		return w.conflict(nil, "checkpoint %d can't be read: %v", rec.Sequence, err)
	}
	signed := []byte(body.Signed)
	c, _, err := w.keys.Open(signed)
	if later, ok := errors.AsType[*audit.UnknownFormatError](err); ok {
		return fmt.Errorf("checkpoint %d of %s is not signed by this witness: %w", rec.Sequence, rec.Subject, later)
	}
	if err != nil && !w.knownKey(signed) {
		return &keyError{rec.Sequence, err}
	}
	if err != nil {
		return w.conflict(signed, "checkpoint %d: %v", rec.Sequence, err)
	}
	if name := rec.Subject[strings.LastIndexByte(rec.Subject, '.')+1:]; c.Origin != audit.Origin(w.conn.Prefix(), name) {
		return w.conflict(signed, "checkpoint %d of %s belongs to another log: %s", rec.Sequence, name, c.Origin)
	}
	if w.at.signed == nil && number < w.at.segment.Number { // removed before this witness started
		w.at.previous, w.at.unproven, w.at.revision = c.Digest(), false, rec.Sequence
		return nil
	}
	if number != w.at.segment.Number {
		if err := w.leave(ctx, number, c, signed); err != nil {
			return err
		}
	}
	if err := w.check(ctx, c, signed); err != nil {
		return err
	}
	w.at.head, w.at.signed, w.at.revision = c, signed, rec.Sequence
	w.at.previous, w.at.unproven, w.at.subtrees = c.Digest(), false, w.log.Subtrees(c.Format)
	w.checked++
	if w.at.revision >= w.missing.revision {
		w.missing = absence{}
	}
	if rec.Last || time.Since(w.saved) > pace {
		return w.commit(ctx)
	}
	return nil
}

// keyError is [ErrKey] with details.
type keyError struct {
	revision uint64
	cause    error
}

func (e *keyError) Error() string {
	return "checkpoint " + strconv.FormatUint(e.revision, 10) + ": " + e.cause.Error() + ": " + ErrKey.Error()
}

func (e *keyError) Unwrap() error { return ErrKey }

// segmentNumber returns the segment number in a checkpoint's subject.
func (w *Witness) segmentNumber(subject string) (int, bool) {
	return store.SegmentNumber(w.conn.AuditStream(), subject[strings.LastIndexByte(subject, '.')+1:])
}

// leave moves from a completely signed segment to the next.
func (w *Witness) leave(ctx context.Context, number int, c audit.Checkpoint, signed []byte) error {
	if number != w.at.segment.Number+1 {
		return w.conflict(signed, "a checkpoint of %s follows one of segment %d", c.Origin, w.at.segment.Number)
	}
	if w.at.segment.Stream != nil {
		state, err := w.store.State(ctx, w.at.segment)
		if err != nil {
			return err
		}
		switch {
		case !state.Sealed:
			return w.conflict(signed, "the log continues in %s, but %s is not closed", c.Origin, w.at.segment.Name())
		case int64(state.Last) > w.log.Size():
			return w.conflict(signed, "the log continues in %s, but no checkpoint covers messages %d to %d of %s", c.Origin, w.log.Size()+1, state.Last, w.at.segment.Name())
		}
	}
	s, err := w.store.Segment(ctx, number)
	if errors.Is(err, natsx.ErrNoStream) {
		return w.gone(signed, "%s was removed before this witness had seen it", c.Origin)
	}
	if err != nil {
		return err
	}
	if err := w.commit(ctx); err != nil {
		return err
	}
	if err := w.enter(ctx, s); err != nil {
		return err
	}
	w.say("segment", "%s is next", w.origin())
	return nil
}

// check compares a checkpoint with the previous one and with the messages.
func (w *Witness) check(ctx context.Context, c audit.Checkpoint, signed []byte) error {
	if w.log.Format() == 0 {
		w.log.SetFormat(c.Format)
	}
	before := w.log.Size()
	switch {
	case c.Format != w.log.Format():
		return w.conflict(signed, "a checkpoint of size %d is in the format %q, but earlier ones are in %q", c.Size, c.Format, w.log.Format())
	case c.Size == before && c.Root != w.log.Root(c.Format):
		return w.conflict(signed, "a checkpoint of size %d states the root %s, but the root that was seen is %s", c.Size, c.Root, w.log.Root(c.Format))
	case c.Size < before:
		return w.conflict(signed, "a checkpoint of size %d follows one of size %d", c.Size, before)
	case c.Previous != w.at.previous && !w.at.unproven:
		return w.conflict(signed, "the checkpoint of size %d does not name the one before as its predecessor: one was left out, or there are two histories", c.Size)
	}
	if err := w.read(ctx, c.Size, signed); err != nil {
		return err
	}
	switch {
	case c.Root != w.log.Root(c.Format):
		return w.conflict(signed, "the messages up to %d are not the ones that were signed, or not the ones that were seen: their root is %s, the checkpoint's %s", c.Size, w.log.Root(c.Format), c.Root)
	case !slices.Equal(c.Writers, w.log.Writers()):
		return w.conflict(signed, "the checkpoint of size %d does not list the last record of each writer as the log has it", c.Size)
	}
	return w.compareOwn(c, signed)
}

// read reads the messages up to a size.
func (w *Witness) read(ctx context.Context, size int64, signed []byte) error {
	if size == w.log.Size() {
		return nil
	}
	if w.at.segment.Stream == nil {
		return w.gone(signed, "%s was removed, but a checkpoint of size %d followed", w.at.head.Origin, size)
	}
	take := func(rec natsx.Record) error {
		if want := uint64(w.log.Size()) + 1; rec.Sequence != want {
			return w.gone(signed, "message %d is missing", want)
		}
		if err := w.log.Append(audit.Message{Subject: rec.Subject, Stored: rec.Time, Body: rec.Body}); err != nil {
			return w.conflict(signed, "message %d on %s is not a record: %v", rec.Sequence, rec.Subject, err)
		}
		return nil
	}
	from := uint64(w.log.Size()) + 1
	if size-w.log.Size() > few {
		if err := w.at.segment.Read(ctx, "", from, uint64(size), take); err != nil {
			return err
		}
	} else if err := w.get(ctx, from, uint64(size), take); err != nil {
		return err
	}
	if w.log.Size() < size {
		return w.gone(signed, "it ends after message %d, but a checkpoint covers %d", w.log.Size(), size)
	}
	return nil
}

// few is the maximum number of messages for which getting them one by one is faster than a
// consumer.
const few = 16

// get reads messages one by one, as far as they exist.
func (w *Witness) get(ctx context.Context, from, to uint64, take func(natsx.Record) error) error {
	for ; from <= to; from++ {
		rec, err := w.at.segment.Get(ctx, from)
		if errors.Is(err, natsx.ErrNoKey) {
			return nil
		}
		if err == nil {
			err = take(rec)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// inspect checks the current segment without a new checkpoint.
func (w *Witness) inspect(ctx context.Context) error {
	if w.at.segment.Stream == nil {
		return nil
	}
	state, err := w.store.State(ctx, w.at.segment)
	if err != nil {
		return err // if the segment is gone, begin reports it
	}
	seen := w.log.Size()
	if w.own != nil && w.own.head != nil {
		seen = max(seen, w.own.head.Size)
	}
	switch {
	case int64(state.Last) < seen:
		return w.gone(nil, "it ends after message %d, but %d were seen", state.Last, seen)
	case state.Last > 0 && (state.First > 1 || state.Messages < state.Last):
		return w.gone(nil, "it has only %d of its %d messages: the others were removed", state.Messages, state.Last)
	case !state.Created.Equal(w.at.created):
		return w.reread(ctx, state.Created)
	}
	return nil
}

// reread compares a recreated stream, such as one restored from a backup, with what the witness
// read before.
func (w *Witness) reread(ctx context.Context, created time.Time) error {
	w.say("warning", "the stream %s was created again: reading it from its first message", w.at.segment.Name())
	seen := w.log
	w.log = &audit.Log{}
	w.log.SetFormat(seen.Format())
	if err := w.read(ctx, seen.Size(), nil); err != nil {
		return err
	}
	if seen.Size() > 0 && w.log.Root(seen.Format()) != seen.Root(seen.Format()) {
		return w.conflict(nil, "its stream was created again, and its first %d messages are not the ones that were seen", seen.Size())
	}
	w.at.created = created
	return nil
}
