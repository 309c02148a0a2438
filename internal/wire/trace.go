package wire

import (
	"context"
	"maps"
	"slices"

	"go.opentelemetry.io/otel/propagation"
)

// InjectTrace writes the trace context of ctx into headers, under the names as W3C
// spells them. Where ctx has none nothing is written; baggage never is.
func InjectTrace(ctx context.Context, h Header) { propagation.TraceContext{}.Inject(ctx, carrier(h)) }

type carrier Header

// Get returns a header.
func (c carrier) Get(key string) string { return Get(Header(c), key) }

// Set replaces a header.
func (c carrier) Set(key, value string) { c[key] = []string{value} }

// Keys are the names of all headers.
func (c carrier) Keys() []string {
	return slices.Collect(maps.Keys(c))
}
