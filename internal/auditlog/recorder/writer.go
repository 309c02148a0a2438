package recorder

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookrouter/hookrouter/internal/auditlog/store"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/wire"
)

// Mode says what waits for records.
type Mode string

// The modes. The zero value means [Strict].
const (
	Strict Mode = "strict" // nothing is answered before its records are acknowledged
	Async  Mode = "async"  // records are written without waiting
	Off    Mode = "off"    // no records are written
)

// tryTime bounds one attempt to append. The next attempt sends the same message.
const tryTime = 2 * time.Second

// ErrUnavailable means that the log did not store the records in time. They must be considered
// lost.
var ErrUnavailable = wire.Errorf(wire.Unavailable, "the audit log does not take records: nothing was decided, try again")

// ErrTooLarge means that a record exceeds the server's maximum message size. It is not written, and
// another record says so. Do not answer the request that it is about.
var ErrTooLarge = wire.Errorf(wire.TooLarge, "the audit record exceeds the NATS server's max_payload: nothing was decided; send less data, or raise max_payload")

// Options configure a writer. Zero fields mean defaults.
type Options struct {
	// ID is the id of the writer. It must be a word, and new at every start of a process.
	ID string
	// Mode says what waits for records; empty means [Strict].
	Mode Mode
	// Timeout bounds the wait for a record; 0 means 500 ms.
	Timeout time.Duration
	// MaxWaiting bounds the records in the queue, in bytes; 0 means 64 MiB.
	MaxWaiting int
	// Wrote is called with the number of records in each acknowledged message, before the waiting
	// callers return. It must not block. Nil means no callback.
	Wrote func(records int)
	// Log gets failures to write; nil discards them.
	Log *slog.Logger
}

// Writer writes the records of one process. It is safe for concurrent use. Call [Writer.Run].
type Writer struct {
	Options
	log *store.Log
	bus *natsx.Conn

	payload atomic.Int64 // the server's max_payload; 0 while unknown

	mu      sync.Mutex // guards queue to closed; never held during I/O
	queue   []*batch   // the first may be in flight
	sending bool       // a batch is in flight; the goroutine that set it owns the sender's fields below
	spare   []byte     // buffer for the lines of the next batch, reused from a written one; may be nil
	waiting int        // bytes in queue
	lost    int        // records dropped at the limit
	closed  bool
	wake    chan struct{}

	// The sender's fields.
	name    string // ID, plus a number if the writer started over
	names   int
	segment store.Segment
	last    uint64 // sequence of the last message in segment; 0 if there is none
	wseq    int64  // number of the next record
	out     []byte
}

// New returns a writer.
func New(b *natsx.Conn, log *store.Log, o Options) *Writer {
	o.Mode = cmp.Or(o.Mode, Strict)
	o.Timeout = cmp.Or(o.Timeout, 500*time.Millisecond)
	o.MaxWaiting = cmp.Or(o.MaxWaiting, 64<<20)
	if o.Wrote == nil {
		o.Wrote = func(int) {}
	}
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	w := &Writer{Options: o, log: log, bus: b, wake: make(chan struct{}, 1), name: o.ID, names: 1, segment: log.Live(), wseq: 1}
	w.payload.Store(b.MaxPayload())
	return w
}

// Record writes lines, which are records without a writer in the form of [audit.Record.Append], and
// waits for the log if the mode requires it. The caller may reuse lines afterwards. After an error,
// [ErrUnavailable] or [ErrTooLarge], nothing may be answered in any mode.
func (w *Writer) Record(ctx context.Context, lines []byte) error {
	switch {
	case w.Mode == Off || len(lines) == 0:
		return nil
	case !w.fits(lines):
		return ErrTooLarge
	case w.Mode == Async:
		w.put(lines, false)
		return nil
	}
	b, leads := w.put(lines, true)
	if b == nil {
		return ErrUnavailable
	}
	if leads {
		ctx, cancel := context.WithTimeout(ctx, w.Timeout)
		defer cancel()
		if !w.send(ctx, b) {
			return ErrUnavailable
		}
		return nil
	}
	timeout := time.NewTimer(w.Timeout)
	defer timeout.Stop()
	select {
	case <-b.done:
		return nil
	case <-timeout.C:
	case <-ctx.Done():
	}
	return ErrUnavailable
}

// Note writes lines without waiting.
func (w *Writer) Note(lines []byte) {
	if w.Mode != Off && len(lines) > 0 && w.fits(lines) {
		w.put(lines, false)
	}
}

// Healthy returns an error if the log takes no records at the moment.
func (w *Writer) Healthy() error {
	if lag := w.Lag(); lag > 2*w.Timeout {
		return fmt.Errorf("the audit log has not taken a record for %d ms: is its disk full? Free space, then restart the process that runs NATS: it refuses writes until then", lag.Milliseconds())
	}
	return nil
}

// Run writes records until ctx ends, and then the remaining ones for at most five seconds.
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

// drain writes batches until ctx ends or, once the writer is closed, none is left.
func (w *Writer) drain(ctx context.Context) {
	for ctx.Err() == nil {
		w.mu.Lock()
		var b *batch
		if !w.sending && len(w.queue) > 0 {
			b = w.queue[0]
			w.sending = true
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

// send writes the first batch. The caller has set sending. Other goroutines that are ready to run
// can add to the batch first, since a write costs far more than a record. send returns false if ctx
// ended first; the batch is then still the first.
func (w *Writer) send(ctx context.Context, b *batch) bool {
	runtime.Gosched()
	w.mu.Lock()
	b.tried = true
	w.mu.Unlock()
	written := w.write(ctx, b)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sending = false
	if written {
		w.queue[0] = nil
		w.queue = w.queue[1:]
		w.waiting -= len(b.lines)
		if cap(b.lines) <= 2*maxBatch {
			w.spare = b.lines[:0]
		}
		close(b.done)
	}
	if len(w.queue) > 0 || w.closed {
		w.notify()
	}
	return written
}
