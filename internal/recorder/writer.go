package recorder

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/hookrouter/hookrouter/internal/bus"
	"github.com/hookrouter/hookrouter/internal/trail"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// Mode says who waits for records.
type Mode string

// The modes. The zero value means [Strict].
const (
	Strict Mode = "strict" // nothing is answered before its records are acknowledged
	Async  Mode = "async"  // records are written, nobody waits for them
	Off    Mode = "off"    // only decisions of people are recorded
)

// maxBatch is the size of a message, in bytes, unless one record is larger.
const maxBatch = 256 << 10

// tryTime bounds one try to append; the next is the same message again.
const tryTime = 2 * time.Second

// ErrUnavailable means that the log did not take records in time: nothing was
// recorded that may be relied on.
var ErrUnavailable = bus.Refuse(bus.Unavailable, "the audit log does not take records: nothing was decided, try again")

// Options configure a writer. The zero value of each field is its default.
type Options struct {
	// ID names the writer: a word, new with every start of a process.
	ID string
	// Mode says who waits; empty means [Strict].
	Mode Mode
	// Timeout is how long a record is waited for; 0 means 500 ms.
	Timeout time.Duration
	// MaxWaiting bounds the records that wait to be written, in bytes; 0 means 64 MiB.
	MaxWaiting int
	// Log; nil discards it.
	Log *slog.Logger
}

// Writer writes the records of one process. Run it. It is safe for concurrent use.
type Writer struct {
	Options
	log *trail.Trail
	bus *bus.Bus

	mu      sync.Mutex // guards what follows; never held while something is sent
	queue   []*batch   // the first may be under way
	sending bool       // it is
	waiting int        // bytes in queue
	lost    int        // records that found no room
	closed  bool
	wake    chan struct{}

	// Of Run alone.
	name    string // in the log: ID, and a number once it had to begin anew
	names   int
	segment trail.Segment
	last    uint64 // the sequence of the last message in segment, 0 for none
	wseq    int64  // of the next record
	out     []byte
}

// batch is lines that are written together.
type batch struct {
	lines  []byte
	opened time.Time
	done   chan struct{} // closed when the log has them
}

// New makes a writer.
func New(b *bus.Bus, log *trail.Trail, o Options) *Writer {
	if o.Mode == "" {
		o.Mode = Strict
	}
	if o.Timeout == 0 {
		o.Timeout = 500 * time.Millisecond
	}
	if o.MaxWaiting == 0 {
		o.MaxWaiting = 64 << 20
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Writer{Options: o, log: log, bus: b, wake: make(chan struct{}, 1), name: o.ID, names: 1, segment: log.Live(), wseq: 1}
}

// Pending are records on their way. The zero Pending is of none.
type Pending struct {
	w    *Writer
	done <-chan struct{} // nil where nobody waits
	err  error
}

// Begin has lines written, each a record without a writer as [audit.Record.Append] makes
// it. They may be used again when it returns.
func (w *Writer) Begin(lines []byte) Pending {
	if w.Mode == Off || len(lines) == 0 {
		return Pending{}
	}
	done := w.put(lines)
	switch {
	case w.Mode == Async:
		return Pending{}
	case done == nil:
		return Pending{err: ErrUnavailable}
	}
	return Pending{w: w, done: done}
}

// Wait waits for the log where the mode says so. The error is [ErrUnavailable]: then
// nothing may be answered.
func (p Pending) Wait(ctx context.Context) error {
	if p.done == nil {
		return p.err
	}
	timer := time.NewTimer(p.w.Timeout)
	defer timer.Stop()
	select {
	case <-p.done:
		return nil
	case <-timer.C:
		return ErrUnavailable
	case <-ctx.Done():
		return ErrUnavailable
	}
}

// Record is [Writer.Begin] and [Pending.Wait].
func (w *Writer) Record(ctx context.Context, lines []byte) error { return w.Begin(lines).Wait(ctx) }

// Note writes lines that nobody waits for.
func (w *Writer) Note(lines []byte) {
	if w.Mode != Off && len(lines) > 0 {
		w.put(lines)
	}
}

// put has lines written. What it returns is closed when the log has them all; nil
// means that there was no room.
func (w *Writer) put(lines []byte) <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || w.waiting+len(lines) > w.MaxWaiting {
		w.lost += bytes.Count(lines, []byte{'\n'})
		return nil
	}
	if w.lost > 0 {
		w.add(audit.Record{Time: time.Now(), Kind: audit.LogKind, Action: "lost", Detail: audit.Note{
			Reason: "more records waited to be written than there is room for", Lost: w.lost,
		}}.Append(nil))
		w.lost = 0
	}
	for len(lines) > maxBatch {
		end := bytes.IndexByte(lines, '\n') + 1
		w.add(lines[:end])
		lines = lines[end:]
	}
	w.add(lines)
	select {
	case w.wake <- struct{}{}:
	default:
	}
	return w.queue[len(w.queue)-1].done
}

// add puts lines into the last batch that has room. The caller holds mu.
func (w *Writer) add(lines []byte) {
	n := len(w.queue)
	if n == 0 || n == 1 && w.sending || len(w.queue[n-1].lines)+len(lines) > maxBatch {
		w.queue = append(w.queue, &batch{opened: time.Now(), done: make(chan struct{})})
		n++
	}
	w.queue[n-1].lines = append(w.queue[n-1].lines, lines...)
	w.waiting += len(lines)
}

// Healthy reports why the log takes no records at the moment, or nil.
func (w *Writer) Healthy() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.queue) == 0 {
		return nil
	}
	if age := time.Since(w.queue[0].opened); age > 2*w.Timeout {
		return fmt.Errorf("the audit log has not taken a record for %d ms: is its disk full?", age.Milliseconds())
	}
	return nil
}

// Run writes until ctx ends, and then what still waits, for at most five seconds.
func (w *Writer) Run(ctx context.Context) {
	for ctx.Err() == nil {
		select {
		case <-w.wake:
		case <-ctx.Done():
		}
		w.drain(ctx)
	}
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	w.drain(last)
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.queue) > 0 {
		w.Log.Error("records of the audit log could not be written before the end", "bytes", w.waiting)
	}
}

// drain writes batch after batch until none waits or ctx ends.
func (w *Writer) drain(ctx context.Context) {
	for {
		w.mu.Lock()
		w.sending = len(w.queue) > 0
		if !w.sending {
			w.queue = nil
			w.mu.Unlock()
			return
		}
		b := w.queue[0]
		w.mu.Unlock()
		written := w.write(ctx, b)
		w.mu.Lock()
		w.sending = false
		if written {
			w.queue = w.queue[1:]
			w.waiting -= len(b.lines)
			close(b.done)
		}
		w.mu.Unlock()
		if !written {
			return
		}
	}
}

// write appends one batch, however often it takes. It is false where ctx ended
// first.
func (w *Writer) write(ctx context.Context, b *batch) bool {
	warned := false
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, 500*time.Millisecond) {
		err := w.try(ctx, b.lines)
		if err == nil {
			if warned {
				w.Log.Info("the audit log takes records again", "after_ms", time.Since(b.opened).Milliseconds())
			}
			return true
		}
		if !warned && ctx.Err() == nil && !errors.Is(err, errAgain) {
			warned = true
			w.Log.Error("the audit log does not take records, trying again", "error", err)
		}
		if errors.Is(err, errAgain) {
			pause = 0
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return false
		}
	}
}

// errAgain means that the next try is another one.
var errAgain = errors.New("try again")

// try appends lines once, as this writer's next records.
func (w *Writer) try(ctx context.Context, lines []byte) error {
	var next int64
	w.out, next = audit.Number(w.out[:0], lines, w.name, w.wseq)
	trying, cancel := context.WithTimeout(ctx, tryTime)
	defer cancel()
	subject := w.bus.Of("audit", "w", w.name)
	seq, err := w.segment.Append(trying, subject, w.name+"-"+strconv.FormatInt(w.wseq, 10), w.last, w.out)
	if errors.Is(err, bus.ErrRevision) || errors.Is(err, bus.ErrClosed) {
		var there bool
		if seq, there, err = w.stored(trying, subject, err); err == nil && !there {
			return errAgain
		}
	}
	if err != nil {
		return err
	}
	w.last, w.wseq = seq, next
	return nil
}

// stored looks whether lines that were refused are there, from a try whose answer was
// lost. Where they are not, the writer begins anew: in the next segment, or under
// another name where somebody else has written under this one.
func (w *Writer) stored(ctx context.Context, subject string, refused error) (seq uint64, there bool, err error) {
	rec, err := w.segment.Newest(ctx, subject)
	switch {
	case err == nil && rec.Sequence > w.last && bytes.Equal(rec.Body, w.out):
		return rec.Sequence, true, nil
	case err != nil && !errors.Is(err, bus.ErrNoKey) && !errors.Is(err, bus.ErrNoStream):
		return 0, false, err
	}
	if errors.Is(refused, bus.ErrClosed) {
		if err := w.log.Refresh(ctx); err != nil {
			return 0, false, err
		}
		if w.log.Live().Number == w.segment.Number {
			return 0, false, refused // the next one is not there yet
		}
		w.segment = w.log.Live()
	} else {
		w.Log.Error("somebody else has written to the audit log as this router: going on under another name", "writer", w.name)
	}
	w.names++
	w.name, w.last, w.wseq = w.ID+"."+strconv.Itoa(w.names), 0, 1
	return 0, false, nil
}
