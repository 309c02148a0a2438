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

// Options say what a process shows of itself. The zero Options are those of a process
// that shows metrics and nothing else.
type Options struct {
	// Service and Version are the program's; OTEL_SERVICE_NAME and
	// OTEL_RESOURCE_ATTRIBUTES win. An empty Service means "hook-router".
	Service, Version string
	// Prefix is the first token of the subjects that spans name; empty means "hooks".
	Prefix string
	// Exporters are set up by the standard OTEL_* variables; nil ignores these.
	Exporters *Exporters
	// Global makes OpenTelemetry's global tracer send here too: for a process whose
	// spans are made by pkg/agent and pkg/worker.
	Global bool
	// Spans is where spans go, besides; nil for nowhere.
	Spans sdktrace.SpanProcessor
	// Log gets what goes wrong, at most once a minute; nil discards it.
	Log *slog.Logger
}

// Telemetry holds the metrics and spans of a process. Stop it. A nil one records nothing.
type Telemetry struct {
	// Metrics are always there.
	Metrics *Metrics
	// Tracer is nil where spans go nowhere.
	Tracer *Tracer

	registry *prometheus.Registry
	meters   *sdkmetric.MeterProvider
	meter    metric.Meter
	logs     *logs // nil where logs are not exported
	quiet    *quiet

	once    sync.Once // of Stop
	stopped error
}

// Start sets telemetry up. Nothing is sent before there is something to send; an
// exporter that can't be reached is no error.
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
	process, err := resource.Merge(resource.NewSchemaless(semconv.ServiceInstanceID(events.NewID())), about) // what was given wins
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

// startMetrics has them scraped as those of about: a scraper knows whom it asks. Those
// that are sent are of process.
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

// maxSeries bounds the label sets of one metric, whatever the bounds above do.
const maxSeries = (maxPairs + 1) * len(actions{})

// about is what every metric, span and log line says of its program.
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

// Handler serves the metrics in the formats of Prometheus. At most four scrapes are
// answered at the same time; the next gets 503.
func (t *Telemetry) Handler() http.Handler {
	return promhttp.HandlerFor(t.registry, promhttp.HandlerOpts{
		EnableOpenMetrics:   true, // for exemplars
		MaxRequestsInFlight: 4,
		Timeout:             10 * time.Second,
		ErrorLog:            t.quiet,
	})
}

// Stop sends what waits to be sent, for as long as ctx lasts. A second call does
// nothing.
func (t *Telemetry) Stop(ctx context.Context) error {
	if t == nil {
		return nil
	}
	t.once.Do(func() {
		t.stopped = errors.Join(t.Tracer.stop(ctx), t.logs.stop(ctx), t.meters.Shutdown(ctx))
	})
	return t.stopped
}
