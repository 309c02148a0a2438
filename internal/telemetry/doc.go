// Package telemetry exports metrics to Prometheus, spans to OpenTelemetry, and adds trace
// ids to log lines.
//
// # Cost
//
// The router reports an event after its answer has left. Metrics are always on: labels
// are made once and taken from a table, so that an event in the steady state allocates
// nothing. Spans are made afterwards, from recorded times and ids, and only for sampled
// traces; without an exporter there is no [Tracer],
// and a nil one does nothing and costs nothing.
//
// # Bounds
//
// Labels come from bounded sets: names of events and ids of hooks beyond the bound
// count as "other"; sessions, chains and agents' ids are never labels. Spans wait in
// a bounded queue; spans beyond it are dropped and counted.
//
// # Failure
//
// An unreachable or hanging collector is logged once a minute. It never delays an
// answer.
//
// # Privacy
//
// No span, metric or label holds event data, a reason or a prompt.
package telemetry
