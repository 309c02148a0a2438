package recorder

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/hookrouter/hookrouter/internal/auditlog/store"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/wire"
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
var ErrUnavailable = wire.Errorf(wire.Unavailable, "the audit log does not take records: nothing was decided, try again")

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
	// Wrote is called with the number of records in a message that the log has taken, before
	// those who wait for it. It must not wait. Nil for nobody.
	Wrote func(records int)
	// Log; nil discards it.
	Log *slog.Logger
}

// Writer writes the records of one process. Run it. It is safe for concurrent use.
type Writer struct {
	Options
	log *store.Log
	bus *natsx.Conn

	mu      sync.Mutex // guards what follows; never held while something is sent
	queue   []*batch   // the first may be under way
	sending bool       // it is: who set this writes it, and has what stands below
	waiting int        // bytes in queue
	lost    int        // records dropped at the limit
	closed  bool
	wake    chan struct{}

	// Of who sends.
	name    string // in the log: ID, and a number once it had to begin anew
	names   int
	segment store.Segment
	last    uint64 // the sequence of the last message in segment, 0 for none
	wseq    int64  // of the next record
	out     []byte
}

// batch is lines that are written together.
type batch struct {
	lines  []byte
	opened time.Time
	tried  bool          // it was sent, and may stand in the log: nothing is added any more
	done   chan struct{} // closed when the log has them
}

// New makes a writer.
func New(b *natsx.Conn, log *store.Log, o Options) *Writer {
	o.Mode = cmp.Or(o.Mode, Strict)
	o.Timeout = cmp.Or(o.Timeout, 500*time.Millisecond)
	o.MaxWaiting = cmp.Or(o.MaxWaiting, 64<<20)
	if o.Wrote == nil {
		o.Wrote = func(int) {}
	}
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	return &Writer{Options: o, log: log, bus: b, wake: make(chan struct{}, 1), name: o.ID, names: 1, segment: log.Live(), wseq: 1}
}

// Record has lines written, each a record without a writer as [audit.Record.Append]
// makes it, and waits for the log where the mode says so. They may be used again when it
// returns. The error is [ErrUnavailable]: then nothing may be answered.
func (w *Writer) Record(ctx context.Context, lines []byte) error {
	switch {
	case w.Mode == Off || len(lines) == 0:
		return nil
	case w.Mode == Async:
		w.put(lines, false)
		return nil
	}
	b, leads := w.put(lines, true)
	if b == nil {
		return ErrUnavailable
	}
	ctx, cancel := context.WithTimeout(ctx, w.Timeout)
	defer cancel()
	if leads {
		if !w.send(ctx, b) {
			return ErrUnavailable
		}
		return nil
	}
	select {
	case <-b.done:
		return nil
	case <-ctx.Done():
		return ErrUnavailable
	}
}

// Note writes lines that nobody waits for.
func (w *Writer) Note(lines []byte) {
	if w.Mode != Off && len(lines) > 0 {
		w.put(lines, false)
	}
}

// put has lines written. What it returns is the batch of the last of them; nil means
// that there was no room. leads says that nothing is under way: the caller, where it
// may, is to send the batch itself, which spares two changes of goroutine.
func (w *Writer) put(lines []byte, mayLead bool) (b *batch, leads bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || w.waiting+len(lines) > w.MaxWaiting {
		w.lost += bytes.Count(lines, []byte{'\n'})
		return nil, false
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
	if b = w.queue[len(w.queue)-1]; mayLead && len(w.queue) == 1 && !w.sending {
		w.sending, b.tried = true, true
		return b, true
	}
	w.notify()
	return b, false
}

// notify tells Run that there is something to do.
func (w *Writer) notify() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// add puts lines into the last batch that has room. The caller holds mu.
func (w *Writer) add(lines []byte) {
	n := len(w.queue)
	if n == 0 || w.queue[n-1].tried || len(w.queue[n-1].lines)+len(lines) > maxBatch {
		w.queue = append(w.queue, &batch{opened: time.Now(), done: make(chan struct{})})
		n++
	}
	w.queue[n-1].lines = append(w.queue[n-1].lines, lines...)
	w.waiting += len(lines)
}

// Lag is how long the oldest record waits that the log has not taken; 0 where none
// waits.
func (w *Writer) Lag() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.queue) == 0 {
		return 0
	}
	return time.Since(w.queue[0].opened)
}

// Healthy reports why the log takes no records at the moment, or nil.
func (w *Writer) Healthy() error {
	if lag := w.Lag(); lag > 2*w.Timeout {
		return fmt.Errorf("the audit log has not taken a record for %d ms: is its disk full?", lag.Milliseconds())
	}
	return nil
}

// Run writes until ctx ends, and then what still waits, for at most five seconds.
func (w *Writer) Run(ctx context.Context) {
	w.drain(ctx)
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	w.notify()
	w.drain(last)
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.queue) > 0 {
		w.Log.Error("audit records not written before shutdown", "bytes", w.waiting)
	}
}

// drain writes batch after batch until ctx ends, or, once the writer is closed, until
// none waits.
func (w *Writer) drain(ctx context.Context) {
	for ctx.Err() == nil {
		w.mu.Lock()
		var b *batch
		if !w.sending && len(w.queue) > 0 {
			b = w.queue[0]
			w.sending, b.tried = true, true
		}
		done := w.closed && len(w.queue) == 0
		w.mu.Unlock()
		if done {
			return
		}
		if b != nil {
			w.send(ctx, b)
			continue
		}
		select {
		case <-w.wake:
		case <-ctx.Done():
		}
	}
}

// send writes the first batch, as the one who is to: sending is set. It is false where
// ctx ended first; then the batch is still the first.
func (w *Writer) send(ctx context.Context, b *batch) bool {
	written := w.write(ctx, b)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sending = false
	if written {
		w.queue[0] = nil
		w.queue = w.queue[1:]
		w.waiting -= len(b.lines)
		close(b.done)
	}
	if len(w.queue) > 0 || w.closed {
		w.notify()
	}
	return written
}

// write appends one batch, however often it takes. It is false where ctx ended
// first.
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

// stored looks whether lines that were refused are there, from a try whose answer was
// lost. Where they are not, the writer begins anew: in the next segment, or under
// another name where somebody else has written under this one.
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
			return 0, false, refused // the next one is not there yet
		}
		w.segment = w.log.Live()
	} else {
		w.Log.Error("another writer uses this router's name in the audit log; continuing under a new name", "writer", w.name)
	}
	w.names++
	w.name, w.last, w.wseq = w.ID+"."+strconv.Itoa(w.names), 0, 1
	return 0, false, nil
}
