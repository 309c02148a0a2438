// Package otlp makes the exporters that the standard OTEL_* variables configure, for
// [telemetry.Options]. It links gRPC, OTLP and the other exporters of OpenTelemetry, so only
// programs import it.
package otlp

import (
	"context"

	"go.opentelemetry.io/contrib/exporters/autoexport"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/hookrouter/hookrouter/internal/telemetry"
)

// Exporters returns exporters that OTEL_TRACES_EXPORTER, OTEL_METRICS_EXPORTER, OTEL_LOGS_EXPORTER
// and OTEL_EXPORTER_* configure.
func Exporters() *telemetry.Exporters {
	return &telemetry.Exporters{
		Spans:   func(ctx context.Context) (sdktrace.SpanExporter, error) { return autoexport.NewSpanExporter(ctx) },
		Metrics: func(ctx context.Context) (sdkmetric.Reader, error) { return autoexport.NewMetricReader(ctx) },
		Logs:    func(ctx context.Context) (sdklog.Exporter, error) { return autoexport.NewLogExporter(ctx) },
	}
}
