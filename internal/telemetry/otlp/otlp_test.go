package otlp_test

import (
	"testing"

	"github.com/hookrouter/hookrouter/internal/telemetry/otlp"
)

// The standard variables choose the exporters, and what they misspell is an error.
func TestExporters(t *testing.T) {
	for value, valid := range map[string]bool{"none": true, "console": true, "carrier-pigeon": false} {
		for _, name := range []string{"OTEL_TRACES_EXPORTER", "OTEL_METRICS_EXPORTER", "OTEL_LOGS_EXPORTER"} {
			t.Setenv(name, value)
		}
		e := otlp.Exporters()
		spans, err := e.Spans(t.Context())
		if (err == nil) != valid {
			t.Errorf("spans to %s: %v", value, err)
		}
		if spans != nil && valid {
			if err := spans.Shutdown(t.Context()); err != nil {
				t.Error(err)
			}
		}
		metrics, err := e.Metrics(t.Context())
		if (err == nil) != valid {
			t.Errorf("metrics to %s: %v", value, err)
		}
		if metrics != nil && valid {
			_ = metrics.Shutdown(t.Context()) // one that was never registered may say so
		}
		logs, err := e.Logs(t.Context())
		if (err == nil) != valid {
			t.Errorf("logs to %s: %v", value, err)
		}
		if logs != nil && valid {
			if err := logs.Shutdown(t.Context()); err != nil {
				t.Error(err)
			}
		}
	}
}
