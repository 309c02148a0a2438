package agent

import (
	"context"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/hookrouter/hookrouter/internal/bus"
)

// scope names who makes the spans.
const scope = "github.com/hookrouter/hookrouter/pkg/agent"

// begin starts the span of a request with OpenTelemetry's global tracer, and puts the
// trace context of the span, or of ctx where no tracer is set up, into its headers.
func (a *Agent) begin(ctx context.Context, verb, event string, header bus.Header) (context.Context, trace.Span) {
	ctx, span := otel.Tracer(scope).Start(ctx, verb+" "+event, trace.WithSpanKind(trace.SpanKindClient))
	if span.IsRecording() {
		span.SetAttributes( // as internal/telemetry names them
			attribute.String("messaging.system", "nats"),
			attribute.String("messaging.destination.name", a.bus.Of(verb)),
			attribute.String("hookrouter.event", event),
		)
		if a.Session != "" {
			span.SetAttributes(attribute.String("hookrouter.session", a.Session))
		}
	}
	propagation.TraceContext{}.Inject(ctx, carrier(header))
	return ctx, span
}

// end ends the span of a request. A denial is no error.
func end(span trace.Span, action string, run Run, err error) {
	defer span.End()
	if !span.IsRecording() {
		return
	}
	if err != nil {
		span.SetStatus(codes.Error, "no answer") // what went wrong may hold data
		if code := bus.CodeOf(err); code != 0 {
			span.SetAttributes(attribute.Int("hookrouter.refused", code))
			span.SetStatus(codes.Error, "refused")
		}
		return
	}
	span.SetAttributes(attribute.String("hookrouter.action", action))
	if run.ChainID != "" {
		span.SetAttributes(attribute.String("hookrouter.chain.id", run.ChainID), attribute.Int("hookrouter.hooks", run.Hooks))
	}
	if run.DeniedBy != "" {
		span.SetAttributes(attribute.String("hookrouter.denied_by", run.DeniedBy))
	}
}

// carrier writes trace context into headers, under the names as W3C spells them.
type carrier bus.Header

// Get returns a header.
func (c carrier) Get(key string) string { return bus.Get(bus.Header(c), key) }

// Set replaces a header.
func (c carrier) Set(key, value string) { c[key] = []string{value} }

// Keys are the names of all headers.
func (c carrier) Keys() []string {
	keys := make([]string, 0, len(c))
	for key := range c {
		keys = append(keys, key)
	}
	return keys
}
