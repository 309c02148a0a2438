package recorder

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// write appends one batch and retries as needed. It returns false if ctx ended first.
func (w *Writer) write(ctx context.Context, b *batch) bool {
	warned := false
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, 500*time.Millisecond) {
		err := w.try(ctx, b.lines)
		if err == nil {
			if warned {
				w.Log.Info("audit log takes records again", "after_ms", time.Since(b.opened).Milliseconds())
			}
			return true
		}
		if !warned && ctx.Err() == nil && !errors.Is(err, errAgain) {
			warned = true
			w.Log.Error("audit log does not take records; trying again", "error", err)
		}
		wait := pause
		if errors.Is(err, errAgain) {
			wait = 0
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return false
		}
	}
}

// errAgain means that the next try follows at once, in another segment or under another name.
var errAgain = errors.New("try again")

// try appends lines once, as this writer's next records.
func (w *Writer) try(ctx context.Context, lines []byte) error {
	var next int64
	w.out, next = audit.Number(w.out[:0], lines, w.name, w.wseq)
	w.payload.Store(w.bus.MaxPayload()) // after a reconnect, another server may accept less
	trying, cancel := context.WithTimeout(ctx, tryTime)
	defer cancel()
	subject := w.bus.Of("audit", "w", w.name)
	seq, err := w.segment.Append(trying, subject, w.name+"-"+strconv.FormatInt(w.wseq, 10), w.last, w.out)
	if errors.Is(err, natsx.ErrRevision) || errors.Is(err, natsx.ErrClosed) {
		var there bool
		if seq, there, err = w.stored(trying, subject, err); err == nil && !there {
			return errAgain
		}
	}
	if err != nil {
		return err
	}
	w.Wrote(int(next - w.wseq))
	w.last, w.wseq = seq, next
	return nil
}

// stored reports whether rejected lines are in the log already, from an attempt whose reply was
// lost. If not, the writer starts over: in the next segment, or under another name if somebody else
// wrote under this one.
func (w *Writer) stored(ctx context.Context, subject string, refused error) (seq uint64, there bool, err error) {
	rec, err := w.segment.Newest(ctx, subject)
	switch {
	case err == nil && rec.Sequence > w.last && bytes.Equal(rec.Body, w.out):
		return rec.Sequence, true, nil
	case err != nil && !errors.Is(err, natsx.ErrNoKey) && !errors.Is(err, natsx.ErrNoStream):
		return 0, false, err
	}
	if errors.Is(refused, natsx.ErrClosed) {
		if err := w.log.Refresh(ctx); err != nil {
			return 0, false, err
		}
		if w.log.Live().Number == w.segment.Number {
			return 0, false, refused // the next segment does not exist yet
		}
		w.segment = w.log.Live()
	} else {
		w.Log.Error("another writer uses this router's name in the audit log; continuing under a new name", "writer", w.name)
	}
	w.names++
	w.name, w.last, w.wseq = w.ID+"."+strconv.Itoa(w.names), 0, 1
	return 0, false, nil
}
