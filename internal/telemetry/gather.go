package telemetry

import (
	"context"
	"sync"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// Limits of a batch of spans.
const (
	gatherSpans = 256
	gatherDelay = 100 * time.Millisecond
)

// gathering passes spans to the queue in batches. An idle queue wakes its goroutine for each span,
// which would compete with the next answer for the processor. It is safe for concurrent use.
type gathering struct {
	queue sdktrace.SpanProcessor
	timer *time.Timer // runs while spans wait

	mu    sync.Mutex              // guards spans
	spans []sdktrace.ReadOnlySpan // nil if no spans wait
}

func newGathering(queue sdktrace.SpanProcessor) *gathering {
	g := &gathering{queue: queue}
	g.timer = time.AfterFunc(time.Hour, g.handOver)
	g.timer.Stop()
	return g
}

// OnStart does nothing: spans are passed on when they end.
func (g *gathering) OnStart(context.Context, sdktrace.ReadWriteSpan) {}

// OnEnd adds a span to the batch.
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

// handOver passes the batch to the queue, which drops spans if it is full.
func (g *gathering) handOver() {
	g.mu.Lock()
	spans := g.spans
	g.spans = nil
	g.mu.Unlock()
	for _, s := range spans {
		g.queue.OnEnd(s)
	}
}

// ForceFlush sends the batch and the spans in the queue.
func (g *gathering) ForceFlush(ctx context.Context) error {
	g.handOver()
	return g.queue.ForceFlush(ctx)
}

// Shutdown sends the batch and the spans in the queue, and stops the queue.
func (g *gathering) Shutdown(ctx context.Context) error {
	g.timer.Stop()
	g.handOver()
	return g.queue.Shutdown(ctx)
}
