package telemetry

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// scope is the instrumentation scope of spans and metrics.
const scope = "github.com/hookrouter/hookrouter"

// Tracer makes the spans of a router. A nil *Tracer makes none and costs nothing. It is safe for
// concurrent use.
type Tracer struct {
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
	head     sampling
	prefix   string // first token of the subjects
	made     atomic.Int64
	exported *exported // nil if the exporter is not ours
}

// Defaults for the queue of spans, if OTEL_BSP_* are not set.
const (
	spanQueue = 16384
	spanBatch = 2048
	spanDelay = time.Second
)

func (t *Telemetry) startTraces(ctx context.Context, o Options, process *resource.Resource) (err error) {
	tracer := &Tracer{prefix: cmp.Or(o.Prefix, events.DefaultPrefix)}
	options := []sdktrace.TracerProviderOption{sdktrace.WithResource(process)}
	if o.Exporters != nil {
		otel.SetErrorHandler(t.quiet)
		otel.SetLogger(logr.FromSlogHandler(o.Log.Handler()))
		if tracer.head, err = samplingFromEnv(); err != nil {
			return err
		}
	} else {
		tracer.head = sampling{byParent: true, below: allTraces}
	}
	switch {
	case o.Exporters != nil && tracesWanted():
		exporter, err := o.Exporters.Spans(ctx)
		if err != nil {
			return configured("OTEL_TRACES_EXPORTER", err)
		}
		tracer.exported = &exported{SpanExporter: exporter}
		options = append(options, sdktrace.WithSpanProcessor(queue(tracer.exported)))
	case o.Spans == nil:
		return nil
	}
	if o.Spans != nil {
		options = append(options, sdktrace.WithSpanProcessor(o.Spans))
	}
	if o.Global { // these spans are sampled when they start, so the standard sampler and ids apply
		tracer.provider = sdktrace.NewTracerProvider(options...)
		otel.SetTracerProvider(tracer.provider)
	} else {
		tracer.provider = sdktrace.NewTracerProvider(append(options,
			sdktrace.WithSampler(sdktrace.AlwaysSample()), // only spans to keep are made
			sdktrace.WithIDGenerator(generator{}))...)
	}
	tracer.tracer = tracer.provider.Tracer(scope)
	t.Tracer = tracer
	return nil
}

// queue returns a queue of spans for an exporter, with the above limits unless variables set them.
// If a variable sets its size, spans are not passed in batches, since the queue may be small.
func queue(exporter sdktrace.SpanExporter) sdktrace.SpanProcessor {
	var o []sdktrace.BatchSpanProcessorOption
	if os.Getenv("OTEL_BSP_SCHEDULE_DELAY") == "" {
		o = append(o, sdktrace.WithBatchTimeout(spanDelay))
	}
	if os.Getenv("OTEL_BSP_MAX_QUEUE_SIZE") != "" || os.Getenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE") != "" {
		return sdktrace.NewBatchSpanProcessor(exporter, o...)
	}
	return newGathering(sdktrace.NewBatchSpanProcessor(exporter, append(o,
		sdktrace.WithMaxQueueSize(spanQueue), sdktrace.WithMaxExportBatchSize(spanBatch))...))
}

// tracesWanted reports whether the environment configures an exporter for spans.
func tracesWanted() bool {
	name := os.Getenv("OTEL_TRACES_EXPORTER")
	if name == "none" || sdkDisabled() {
		return false
	}
	return name != "" || os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") != ""
}

func sdkDisabled() bool { return strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true") }

func configured(variable string, err error) error {
	return fmt.Errorf("set telemetry up as %s and the OTEL_EXPORTER_* variables say: %w", variable, err)
}

// Flush sends all pending spans, bounded by ctx, and returns the number of spans made so far. It
// does not delay answers.
func (t *Tracer) Flush(ctx context.Context) (made int64, err error) {
	if t == nil {
		return 0, nil
	}
	err = t.provider.ForceFlush(ctx)
	return t.made.Load(), err
}

func (t *Tracer) stop(ctx context.Context) error {
	if t == nil {
		return nil
	}
	return t.provider.Shutdown(ctx)
}

// exported counts the spans that an exporter sent or could not send.
type exported struct {
	sdktrace.SpanExporter
	sent, failed atomic.Int64
}

// ExportSpans exports spans and counts them.
func (e *exported) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	err := e.SpanExporter.ExportSpans(ctx, spans)
	if err != nil {
		e.failed.Add(int64(len(spans)))
	} else {
		e.sent.Add(int64(len(spans)))
	}
	return err
}

// Sender is the trace context in an event's request, and the attributes that determine its trace.
type Sender struct {
	Traceparent, Tracestate string
	Session, Turn           string
	ChainID                 string
}

// Trace is the trace of one event. A nil *Trace records nothing.
type Trace struct {
	parent trace.SpanContext // the sender's span; not valid if there is none
	root   trace.SpanContext // the router's span
}

// Begin returns the trace of an event: the sender's, or else one that all events of its turn share.
// It makes no span.
func (t *Tracer) Begin(s Sender) *Trace {
	if t == nil {
		return nil
	}
	tr := &Trace{parent: readParent(s.Traceparent, s.Tracestate)}
	id := tr.parent.TraceID()
	if !tr.parent.IsValid() {
		id = traceOf(s.Session, s.Turn)
	}
	flags := trace.TraceFlags(0)
	if t.head.samples(tr.parent, id) {
		flags = trace.FlagsSampled
	}
	tr.root = trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: id, SpanID: spanOf(0, s.ChainID), TraceFlags: flags, TraceState: tr.parent.TraceState(),
	})
	return tr
}

// Header returns the traceparent for the router's messages about the event.
func (tr *Trace) Header() string { return traceparent(tr.root) }

// State returns the tracestate that belongs to Header, from the sender's span; empty if there is
// none.
func (tr *Trace) State() string { return tr.root.TraceState().String() }

// Call returns the traceparent for a call of a hook.
func (tr *Trace) Call(hook string) string { return traceparent(tr.call(hook)) }

func (tr *Trace) call(hook string) trace.SpanContext {
	return tr.root.WithSpanID(spanOf(seedOf(tr.root.SpanID()), hook))
}

// Context returns a context with the trace, for exemplars and log lines.
func (tr *Trace) Context() context.Context {
	if tr == nil {
		return context.Background()
	}
	return trace.ContextWithSpanContext(context.Background(), tr.root)
}
