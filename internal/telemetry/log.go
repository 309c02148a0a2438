package telemetry

import (
	"context"
	"errors"
	"log/slog"
	"os"

	"go.opentelemetry.io/contrib/bridges/otelslog"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/trace"
)

// logs exports log lines to a collector.
type logs struct {
	provider *sdklog.LoggerProvider
	handler  slog.Handler
}

func (t *Telemetry) startLogs(ctx context.Context, o Options, about *resource.Resource) error {
	if name := os.Getenv("OTEL_LOGS_EXPORTER"); o.Exporters == nil || name == "" || name == "none" || sdkDisabled() {
		return nil
	}
	exporter, err := o.Exporters.Logs(ctx)
	if err != nil {
		return configured("OTEL_LOGS_EXPORTER", err)
	}
	provider := sdklog.NewLoggerProvider(sdklog.WithResource(about), sdklog.WithProcessor(sdklog.NewBatchProcessor(exporter)))
	t.logs = &logs{provider, otelslog.NewHandler(o.Service, otelslog.WithLoggerProvider(provider))}
	return nil
}

func (l *logs) stop(ctx context.Context) error {
	if l == nil {
		return nil
	}
	return l.provider.Shutdown(ctx)
}

// LogTo returns a handler that passes log lines to another one, with trace_id and span_id if their
// context has a span, and to the collector if OTEL_LOGS_EXPORTER is set. level applies to both.
func (t *Telemetry) LogTo(to slog.Handler, level slog.Leveler) slog.Handler {
	to = named{to}
	if t == nil || t.logs == nil {
		return to
	}
	return both{to, t.logs.handler, level}
}

// both passes lines to two handlers.
type both struct {
	first, second slog.Handler
	level         slog.Leveler
}

// Enabled implements [slog.Handler].
func (b both) Enabled(_ context.Context, l slog.Level) bool { return l >= b.level.Level() }

// Handle passes each handler its own copy.
func (b both) Handle(ctx context.Context, r slog.Record) error {
	return errors.Join(b.first.Handle(ctx, r.Clone()), b.second.Handle(ctx, r))
}

// WithAttrs implements [slog.Handler].
func (b both) WithAttrs(attrs []slog.Attr) slog.Handler {
	return both{b.first.WithAttrs(attrs), b.second.WithAttrs(attrs), b.level}
}

// WithGroup implements [slog.Handler].
func (b both) WithGroup(name string) slog.Handler {
	return both{b.first.WithGroup(name), b.second.WithGroup(name), b.level}
}

// named adds the ids of the span in the context to each line.
type named struct{ slog.Handler }

// Handle adds trace_id and span_id.
func (n named) Handle(ctx context.Context, r slog.Record) error {
	if sc := trace.SpanContextFromContext(ctx); sc.IsValid() {
		r.AddAttrs(slog.String("trace_id", sc.TraceID().String()), slog.String("span_id", sc.SpanID().String()))
	}
	return n.Handler.Handle(ctx, r)
}

// WithAttrs implements [slog.Handler].
func (n named) WithAttrs(attrs []slog.Attr) slog.Handler { return named{n.Handler.WithAttrs(attrs)} }

// WithGroup implements [slog.Handler].
func (n named) WithGroup(name string) slog.Handler { return named{n.Handler.WithGroup(name)} }
