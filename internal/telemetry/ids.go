package telemetry

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"

	"go.opentelemetry.io/otel/trace"
)

// spanOf derives a span id from the subject of the span, so that it need not be stored: a call's
// from its chain and hook, a chain's from its id.
func spanOf(seed uint64, text string) (id trace.SpanID) {
	const prime = 1099511628211 // FNV-1a
	h := seed ^ 14695981039346656037
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * prime
	}
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9 // finalizer that mixes all bits
	h = (h ^ h>>27) * 0x94d049bb133111eb
	h ^= h >> 31
	binary.BigEndian.PutUint64(id[:], max(h, 1))
	return id
}

func seedOf(id trace.SpanID) uint64 { return binary.BigEndian.Uint64(id[:]) }

// traceOf returns the trace id for a turn of a session, for a session, or, without a session, a
// random one for one event.
func traceOf(session, turn string) (id trace.TraceID) {
	if session == "" { // a turn is one of a session
		_, _ = rand.Read(id[:]) // never fails
		return id
	}
	h := sha256.New()
	h.Write([]byte("hookrouter trace\x00" + session + "\x00" + turn))
	var sum [sha256.Size]byte
	copy(id[:], h.Sum(sum[:0]))
	return id
}

// chosen holds the ids for the next span.
type chosen struct {
	trace trace.TraceID
	span  trace.SpanID
}

type chosenKey struct{}

// generator takes ids from the context, so that spans can be made after their ids were sent to
// others.
type generator struct{}

// NewIDs returns the ids of a span without a parent.
func (generator) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	if c, ok := ctx.Value(chosenKey{}).(*chosen); ok {
		return c.trace, c.span
	}
	id := traceOf("", "")
	return id, spanOf(binary.BigEndian.Uint64(id[8:]), "root")
}

// NewSpanID returns the id of a span with a parent.
func (g generator) NewSpanID(ctx context.Context, _ trace.TraceID) trace.SpanID {
	_, id := g.NewIDs(ctx)
	return id
}
