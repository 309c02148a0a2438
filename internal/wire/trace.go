package wire

import (
	"context"
	"maps"
	"slices"

	"go.opentelemetry.io/otel/propagation"
)

// InjectTrace writes the trace context of ctx, if any, into headers, with the names as W3C spells
// them. It does not write baggage.
func InjectTrace(ctx context.Context, h Header) { propagation.TraceContext{}.Inject(ctx, carrier(h)) }

type carrier Header

func (c carrier) Get(key string) string { return Get(Header(c), key) }

func (c carrier) Set(key, value string) { c[key] = []string{value} }

func (c carrier) Keys() []string {
	return slices.Collect(maps.Keys(c))
}
