package telemetry

import (
	"fmt"
	"net/url"
	"os"
	"slices"
	"strconv"
)

// checkEnv rejects values of the standard variables that OpenTelemetry would silently replace or
// ignore. Its error does not contain the value: an endpoint may contain a password.
func checkEnv() error {
	for _, name := range [...]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
		"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT",
	} {
		if value := os.Getenv(name); value != "" && !isEndpoint(value) {
			return fmt.Errorf("%s must be a URL, such as http://127.0.0.1:4318", name)
		}
	}
	for _, name := range [...]string{
		"OTEL_BSP_SCHEDULE_DELAY", "OTEL_BSP_EXPORT_TIMEOUT", "OTEL_BSP_MAX_QUEUE_SIZE", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE",
		"OTEL_EXPORTER_OTLP_TIMEOUT", "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT",
	} {
		if value := os.Getenv(name); value != "" {
			if n, err := strconv.Atoi(value); err != nil || n < 0 {
				return fmt.Errorf("%s must be a whole number; times are in milliseconds", name)
			}
		}
	}
	if name := os.Getenv("OTEL_METRICS_EXPORTER"); !slices.Contains([]string{"", "none", "otlp", "console", "prometheus"}, name) {
		return fmt.Errorf("OTEL_METRICS_EXPORTER must be otlp, console or none, not %q; /metrics is there always", name)
	}
	return nil
}

func isEndpoint(text string) bool {
	u, err := url.Parse(text)
	if err != nil {
		return false
	}
	return u.Scheme == "unix" && u.Path != "" || (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}
