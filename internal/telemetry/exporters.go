package telemetry

import (
	"context"

	sdklog "go.opentelemetry.io/otel/sdk/log"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// Exporters make the exporters that the standard OTEL_* variables configure. Package otlp provides
// them. Only programs import it, since it links gRPC and all protocols of OpenTelemetry.
type Exporters struct {
	Spans   func(context.Context) (sdktrace.SpanExporter, error)
	Metrics func(context.Context) (sdkmetric.Reader, error)
	Logs    func(context.Context) (sdklog.Exporter, error)
}
