package worker

import (
	"cmp"
	"context"
	"errors"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/hookrouter/hookrouter/pkg/chain"
)

// scope is the instrumentation scope of the spans.
const scope = "github.com/hookrouter/hookrouter/pkg/worker"

// begin starts the span of a call with OpenTelemetry's global tracer, as a child of the router's
// span, and puts it into the handler's context. A hook that only observes gets a linked trace of
// its own, since the router does not wait for it. A call without trace context gets no span.
func begin(ctx context.Context, call Call, ev Event) (context.Context, trace.Span) {
	if call.Traceparent == "" || len(call.Traceparent) > 128 {
		return ctx, noop.Span{}
	}
	remote := propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{"traceparent": call.Traceparent, "tracestate": call.Tracestate})
	caller := trace.SpanContextFromContext(remote)
	if !caller.IsValid() {
		return ctx, noop.Span{}
	}
	options := []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindServer)}
	if call.Mode == chain.Observe || call.Mode == chain.Async {
		options = []trace.SpanStartOption{
			trace.WithSpanKind(trace.SpanKindConsumer), trace.WithNewRoot(), trace.WithLinks(trace.Link{SpanContext: caller}),
		}
	}
	mode := cmp.Or(call.Mode, chain.Enforce)
	about := []attribute.KeyValue{ // as internal/telemetry names them
		attribute.String("messaging.system", "nats"),
		attribute.String("hookrouter.hook.id", call.Hook),
		attribute.String("hookrouter.hook.mode", string(mode)),
		attribute.String("hookrouter.event", ev.Name),
		attribute.String("hookrouter.chain.id", call.ChainID),
	}
	if ev.Session != "" {
		about = append(about, attribute.String("hookrouter.session", ev.Session))
	}
	return otel.Tracer(scope).Start(remote, "hook "+call.Hook, append(options, trace.WithAttributes(about...))...) //nolint:spancheck // answer ends it
}

// answered records the handler's answer in the span. A denial is not an error.
func answered(span trace.Span, result Result, err error) {
	if !span.IsRecording() {
		return
	}
	if err != nil {
		failed(span, err)
		return
	}
	action := cmp.Or(result.Action, chain.Continue)
	span.SetAttributes(attribute.String("hookrouter.action", string(action)))
}

// failed records the class of a failure in the span.
func failed(span trace.Span, err error) {
	class := chain.FailedError
	if errors.Is(err, context.DeadlineExceeded) {
		class = chain.FailedTimeout
	}
	span.SetAttributes(attribute.String("hookrouter.failure", string(class)))
	span.SetStatus(codes.Error, string(class)) // the error may quote data
}
