package recorder

import (
	"bytes"
	"cmp"
	"time"

	"github.com/hookrouter/hookrouter/pkg/audit"
)

// maxBatch is the maximum size of a message, in bytes, unless a single record is larger.
const maxBatch = 256 << 10

// maxNumber is the maximum size that numbers and headers add to a record, in bytes.
const maxNumber = 4 << 10

// batch is a set of lines that are written together.
type batch struct {
	lines  []byte
	opened time.Time
	tried  bool          // it was sent and may be in the log: lines must not be added
	done   chan struct{} // closed when the log has stored the lines
}

// fits reports whether the NATS server accepts each line. If it does not, a record of the loss is
// written instead, since a message that the server rejects would be retried forever.
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

// lost returns a record about records that are not in the log.
func lost(n int, reason string) []byte {
	return audit.Record{Time: time.Now(), Kind: audit.LogKind, Action: "lost", Detail: audit.Note{Reason: reason, Lost: n}}.Append(nil)
}

// room returns the maximum size of a message, in bytes, unless a single record is larger.
func (w *Writer) room() int { return min(maxBatch, w.maxPayload()/2) }

// maxPayload returns the server's max_payload as of the last message. The connection's own value
// needs a lock that is held while the connection writes.
func (w *Writer) maxPayload() int { return cmp.Or(int(w.payload.Load()), defaultPayload) }

// defaultPayload is the default max_payload of NATS servers, in bytes.
const defaultPayload = 1 << 20

// put queues lines and returns the batch of the last of them, or nil if there is no room. leads is
// true if no batch is in flight and mayLead is set: the caller then sends the batch itself, which
// saves two goroutine switches.
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
		w.queue = append(w.queue, &batch{lines: w.spare, opened: time.Now(), done: make(chan struct{})})
		w.spare = nil
		n++
	}
	w.queue[n-1].lines = append(w.queue[n-1].lines, lines...)
	w.waiting += len(lines)
}

// Lag returns the age of the oldest unacknowledged record; 0 if there is none.
func (w *Writer) Lag() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.queue) == 0 {
		return 0
	}
	return time.Since(w.queue[0].opened)
}
