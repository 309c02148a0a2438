package wire

import (
	"context"

	"go.opentelemetry.io/otel/propagation"
)

// InjectTrace writes the trace context of ctx, if any, into headers, with the names as W3C spells
// them. It does not write baggage.
func InjectTrace(ctx context.Context, h Header) {
	fields := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, fields)
	for name, value := range fields {
		h[name] = []string{value}
	}
}
