package agent

import (
	"context"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
)

// scope is the instrumentation scope of the spans.
const scope = "github.com/hookrouter/hookrouter/pkg/agent"

// begin starts the span of a request with OpenTelemetry's global tracer and injects the trace
// context into header: the span's, or that of ctx if no tracer is set up. name is the event, or the
// channel for contributions.
func (a *Agent) begin(ctx context.Context, verb Verb, name string, header wire.Header) (context.Context, trace.Span) {
	ctx, span := otel.Tracer(scope).Start(ctx, string(verb)+" "+name, trace.WithSpanKind(trace.SpanKindClient))
	if span.IsRecording() {
		about := attribute.Key("hookrouter.event") // as internal/telemetry names them
		if verb == VerbContributions {
			about = "hookrouter.channel"
		}
		span.SetAttributes(
			attribute.String("messaging.system", "nats"),
			attribute.String("messaging.destination.name", a.conn.Transport.Of(string(verb))),
			about.String(name),
		)
		if a.options.Session != "" {
			span.SetAttributes(attribute.String("hookrouter.session", a.options.Session))
		}
	}
	wire.InjectTrace(ctx, header)
	return ctx, span
}

// end ends the span of a request. A denial is not an error.
func end(span trace.Span, action string, run Run, err error) {
	defer span.End()
	if !span.IsRecording() {
		return
	}
	if err != nil {
		span.SetStatus(codes.Error, "no answer") // the error may quote data
		if code := hookrouter.CodeOf(err); code != 0 {
			span.SetAttributes(attribute.Int("hookrouter.refused", int(code)))
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
