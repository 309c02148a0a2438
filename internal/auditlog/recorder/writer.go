package recorder

import (
	"bytes"
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
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// Mode says what waits for records.
type Mode string

// The modes. The zero value means [Strict].
const (
	Strict Mode = "strict" // nothing is answered before its records are acknowledged
	Async  Mode = "async"  // records are written without waiting
	Off    Mode = "off"    // only decisions of people are recorded
)

// maxBatch is the size of a message, in bytes, unless one record is larger.
const maxBatch = 256 << 10

// maxNumber is what numbers and headers add to a record, in bytes, at the most.
const maxNumber = 4 << 10

// tryTime bounds one try to append. The next try sends the same message.
const tryTime = 2 * time.Second

// ErrUnavailable means that the log did not take records in time: do not rely on anything being
// recorded.
var ErrUnavailable = wire.Errorf(wire.Unavailable, "the audit log does not take records: nothing was decided, try again")

// ErrTooLarge means that a record has more bytes than the NATS server takes in a message. It is not
// written, and another record says so: do not answer what it is about.
var ErrTooLarge = wire.Errorf(wire.TooLarge, "the audit record exceeds the NATS server's max_payload: nothing was decided; send less data, or raise max_payload")

// Options configure a writer. The zero value of each field is its default.
type Options struct {
	// ID names the writer. It must be a word, new at every start of a process.
	ID string
	// Mode says what waits; empty means [Strict].
	Mode Mode
	// Timeout bounds the wait for a record; 0 means 500 ms.
	Timeout time.Duration
	// MaxWaiting bounds the records in the queue, in bytes; 0 means 64 MiB.
	MaxWaiting int
	// Wrote is called with the number of records in each acknowledged message, before the
	// waiting callers return. It must not block. Nil for none.
	Wrote func(records int)
	// Log; nil discards it.
	Log *slog.Logger
}

// Writer writes the records of one process. It is safe for concurrent use. [Writer.Run] runs it.
type Writer struct {
	Options
	log *store.Log
	bus *natsx.Conn

	payload atomic.Int64 // the server's max_payload; 0 while unknown

	mu      sync.Mutex // guards what follows; never held during I/O
	queue   []*batch   // the first may be in flight
	sending bool       // a batch is in flight; whoever set this owns the sender's fields below
	waiting int        // bytes in queue
	lost    int        // records dropped at the limit
	closed  bool
	wake    chan struct{}

	// The sender's fields.
	name    string // in the log: ID, plus a number after a restart of the writer
	names   int
	segment store.Segment
	last    uint64 // sequence of the last message in segment, 0 for none
	wseq    int64  // of the next record
	out     []byte
}

// batch is a set of lines that are written together.
type batch struct {
	lines  []byte
	opened time.Time
	tried  bool          // it was sent and may be in the log: nothing may be added
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
	w := &Writer{Options: o, log: log, bus: b, wake: make(chan struct{}, 1), name: o.ID, names: 1, segment: log.Live(), wseq: 1}
	w.payload.Store(b.MaxPayload())
	return w
}

// Record writes lines, each a record without a writer as [audit.Record.Append] makes it, and
// waits for the log if the mode requires it. The caller may reuse lines after it returns. With an
// error, [ErrUnavailable] or [ErrTooLarge], nothing may be answered, in whatever mode.
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

// fits reports whether the NATS server takes each of some lines. If it doesn't, one record tells
// that they are lost: a message that it refuses would be tried for ever.
func (w *Writer) fits(lines []byte) bool {
	most := w.maxPayload() - maxNumber
	if len(lines) <= most {
		return true
	}
	n, larger := 0, 0
	for line := range bytes.Lines(lines) {
		n++
		larger = max(larger, len(line))
	}
	if larger <= most {
		return true
	}
	w.Log.Error("audit record not written: it exceeds the NATS server's max_payload", "bytes", larger, "max_payload", w.maxPayload())
	w.put(lost(n, "one of them exceeds the NATS server's max_payload"), false)
	return false
}

// lost is a record of records that are not in the log.
func lost(n int, reason string) []byte {
	return audit.Record{Time: time.Now(), Kind: audit.LogKind, Action: "lost", Detail: audit.Note{Reason: reason, Lost: n}}.Append(nil)
}

// room is the size of a message, in bytes, unless one record is larger.
func (w *Writer) room() int { return min(maxBatch, w.maxPayload()/2) }

// maxPayload is the server's max_payload, as of the last message. To ask the connection each time
// would wait for its lock, which is held while the connection writes.
func (w *Writer) maxPayload() int { return cmp.Or(int(w.payload.Load()), defaultPayload) }

// defaultPayload is the default max_payload of NATS servers, in bytes.
const defaultPayload = 1 << 20

// put queues lines and returns the batch of the last of them; nil means that there was no room.
// leads says that no batch is in flight: the caller may send the batch itself, which saves two
// goroutine switches.
func (w *Writer) put(lines []byte, mayLead bool) (b *batch, leads bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || w.waiting+len(lines) > w.MaxWaiting {
		w.lost += bytes.Count(lines, []byte{'\n'})
		return nil, false
	}
	if w.lost > 0 {
		w.add(lost(w.lost, "more records waited to be written than there is room for"))
		w.lost = 0
	}
	for len(lines) > 0 {
		end := len(lines)
		if end > w.room() {
			end = bytes.IndexByte(lines, '\n') + 1
		}
		w.add(lines[:end])
		lines = lines[end:]
	}
	if b = w.queue[len(w.queue)-1]; mayLead && len(w.queue) == 1 && !w.sending {
		w.sending = true
		return b, true
	}
	w.notify()
	return b, false
}

// notify wakes Run.
func (w *Writer) notify() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// add adds lines to the last batch with room. The caller holds mu.
func (w *Writer) add(lines []byte) {
	n := len(w.queue)
	if n == 0 || w.queue[n-1].tried || len(w.queue[n-1].lines)+len(lines) > w.room() {
		w.queue = append(w.queue, &batch{opened: time.Now(), done: make(chan struct{})})
		n++
	}
	w.queue[n-1].lines = append(w.queue[n-1].lines, lines...)
	w.waiting += len(lines)
}

// Lag is the age of the oldest unacknowledged record; 0 for none.
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

// Run writes until ctx ends, and then the remaining records, for at most five seconds.
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

// drain writes batches until ctx ends, or, once the writer is closed, until none is left.
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

// send writes the first batch. The caller has set sending. Callers that are ready to run add to
// the batch first: a write costs far more than a record. It returns false if ctx ended first;
// then the batch is still the first.
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
		close(b.done)
	}
	if len(w.queue) > 0 || w.closed {
		w.notify()
	}
	return written
}
