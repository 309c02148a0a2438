// Package telemetry exports metrics to Prometheus and spans to OpenTelemetry, and adds trace ids to
// log lines.
//
// # Cost
//
// The router reports an event after it sent the answer. Metrics are always on: labels are made once
// and cached, so that an event in the steady state allocates nothing. Spans are made afterwards,
// from recorded times and ids, and only for sampled traces. Without an exporter there is no
// [Tracer], and a nil Tracer costs nothing.
//
// # Bounds
//
// Labels come from bounded sets: names of events and ids of hooks beyond the bound count as
// "other". Sessions, chains and agents' ids are never labels. Spans wait in a bounded queue; spans
// beyond it are dropped and counted.
//
// # Failure
//
// A collector that is unreachable or hangs is logged once a minute. It never delays an answer.
//
// # Privacy
//
// No span, metric or label contains event data, a reason or a prompt.
package telemetry
