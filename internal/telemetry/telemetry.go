package telemetry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	otelprom "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// Options configure the telemetry of a process. The zero value serves metrics and exports nothing.
type Options struct {
	// Service and Version identify the program; OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES take
	// precedence. An empty Service means "hook-router".
	Service, Version string
	// Prefix is the first token of the subjects in spans; empty means "hooks".
	Prefix string
	// Exporters makes the exporters that the standard OTEL_* variables configure; nil ignores
	// these.
	Exporters *Exporters
	// Global registers the tracer as OpenTelemetry's global one, for a process whose spans
	// pkg/agent and pkg/worker make.
	Global bool
	// Spans also gets all spans; nil means none.
	Spans sdktrace.SpanProcessor
	// Log gets errors, at most one a minute; nil discards them.
	Log *slog.Logger
}

// Telemetry holds the metrics and spans of a process. Call [Telemetry.Stop]. A nil *Telemetry
// records nothing.
type Telemetry struct {
	// Metrics is never nil.
	Metrics *Metrics
	// Tracer is nil if spans are not exported.
	Tracer *Tracer

	registry *prometheus.Registry
	meters   *sdkmetric.MeterProvider
	meter    metric.Meter
	logs     *logs // nil if logs are not exported
	quiet    *quiet

	once    sync.Once // of Stop
	stopped error
}

// Start starts telemetry. It does not connect until there is data to send; an unreachable exporter
// is not an error.
func Start(ctx context.Context, o Options) (*Telemetry, error) {
	if o.Service == "" {
		o.Service = "hook-router"
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Exporters != nil && !sdkDisabled() {
		if err := checkEnv(); err != nil {
			return nil, err
		}
	}
	about, err := about(ctx, o)
	if err != nil {
		return nil, err
	}
	process, err := resource.Merge(resource.NewSchemaless(semconv.ServiceInstanceID(events.NewID())), about) // given values take precedence
	if err != nil {
		return nil, fmt.Errorf("name the process: %w", err)
	}
	t := &Telemetry{registry: prometheus.NewRegistry(), quiet: &quiet{log: o.Log}}
	t.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if err := t.startMetrics(ctx, o, about, process); err != nil {
		return nil, err
	}
	if err := t.startTraces(ctx, o, process); err != nil {
		return nil, errors.Join(err, t.Stop(ctx))
	}
	if err := t.startLogs(ctx, o, process); err != nil {
		return nil, errors.Join(err, t.Stop(ctx))
	}
	return t, nil
}

// startMetrics serves scraped metrics with the attributes of about, since a scraper knows the
// process. Exported metrics have those of process.
func (t *Telemetry) startMetrics(ctx context.Context, o Options, about, process *resource.Resource) error {
	scraped, err := otelprom.New(otelprom.WithRegisterer(t.registry), otelprom.WithoutScopeInfo())
	if err != nil {
		return fmt.Errorf("set metrics up: %w", err)
	}
	options := []sdkmetric.Option{sdkmetric.WithReader(scraped), sdkmetric.WithCardinalityLimit(maxSeries)}
	if name := os.Getenv("OTEL_METRICS_EXPORTER"); o.Exporters != nil && !sdkDisabled() && (name == "otlp" || name == "console") {
		sent, err := o.Exporters.Metrics(ctx)
		if err != nil {
			return configured("OTEL_METRICS_EXPORTER", err)
		}
		options = append(options, sdkmetric.WithReader(sent))
		about = process
	}
	options = append(options, sdkmetric.WithResource(about))
	t.meters = sdkmetric.NewMeterProvider(options...)
	t.meter = t.meters.Meter(scope)
	t.Metrics = newMetrics(t.meter)
	return nil
}

// maxSeries is the maximum number of label sets of one metric, independent of other limits.
const maxSeries = (maxPairs + 1) * len(actions{})

// about returns the attributes of the program for all metrics, spans and log lines.
func about(ctx context.Context, o Options) (*resource.Resource, error) {
	r, err := resource.New(ctx,
		resource.WithTelemetrySDK(),
		resource.WithAttributes(semconv.ServiceName(o.Service), semconv.ServiceVersion(o.Version)),
		resource.WithFromEnv(), // the last one wins
	)
	if err != nil {
		return nil, fmt.Errorf("read OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	return r, nil
}

// Handler serves the metrics in the formats of Prometheus. It serves at most four scrapes at a time
// and answers further ones with 503.
func (t *Telemetry) Handler() http.Handler {
	return promhttp.HandlerFor(t.registry, promhttp.HandlerOpts{
		EnableOpenMetrics:   true, // for exemplars
		MaxRequestsInFlight: 4,
		Timeout:             10 * time.Second,
		ErrorLog:            t.quiet,
	})
}

// Stop sends all pending data, bounded by ctx. Calling it again does nothing.
func (t *Telemetry) Stop(ctx context.Context) error {
	if t == nil {
		return nil
	}
	t.once.Do(func() {
		t.stopped = errors.Join(t.Tracer.stop(ctx), t.logs.stop(ctx), t.meters.Shutdown(ctx))
	})
	return t.stopped
}
