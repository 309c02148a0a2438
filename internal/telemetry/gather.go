package telemetry

import (
	"context"
	"sync"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// Bounds of a batch of spans.
const (
	gatherSpans = 256
	gatherDelay = 100 * time.Millisecond
)

// gathering hands spans to the queue in batches. An idle queue wakes its goroutine for each
// span, which would compete with the next answer for the processor. It is safe for concurrent use.
type gathering struct {
	queue sdktrace.SpanProcessor
	timer *time.Timer // runs where something waits

	mu    sync.Mutex              // guards spans
	spans []sdktrace.ReadOnlySpan // nil where none waits
}

func newGathering(queue sdktrace.SpanProcessor) *gathering {
	g := &gathering{queue: queue}
	g.timer = time.AfterFunc(time.Hour, g.handOver)
	g.timer.Stop()
	return g
}

// OnStart does nothing: spans are made when they are over.
func (g *gathering) OnStart(context.Context, sdktrace.ReadWriteSpan) {}

// OnEnd takes a span.
func (g *gathering) OnEnd(s sdktrace.ReadOnlySpan) {
	g.mu.Lock()
	if g.spans == nil {
		g.timer.Reset(gatherDelay)
		g.spans = make([]sdktrace.ReadOnlySpan, 0, gatherSpans)
	}
	g.spans = append(g.spans, s)
	full := len(g.spans) >= gatherSpans
	g.mu.Unlock()
	if full {
		g.handOver()
	}
}

// handOver gives the queue what was gathered; a full queue drops it.
func (g *gathering) handOver() {
	g.mu.Lock()
	spans := g.spans
	g.spans = nil
	g.mu.Unlock()
	for _, s := range spans {
		g.queue.OnEnd(s)
	}
}

// ForceFlush sends what was gathered, and what the queue holds.
func (g *gathering) ForceFlush(ctx context.Context) error {
	g.handOver()
	return g.queue.ForceFlush(ctx)
}

// Shutdown does the same, and accepts no more spans.
func (g *gathering) Shutdown(ctx context.Context) error {
	g.timer.Stop()
	g.handOver()
	return g.queue.Shutdown(ctx)
}
