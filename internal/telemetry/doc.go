// Package telemetry shows what a process does: metrics for Prometheus, spans for
// OpenTelemetry, and log lines that name their trace.
//
// # Cost
//
// The router tells what happened to an event after its answer has left. Metrics are
// always on: labels are made once and taken from a table, so that an event in the
// steady state allocates nothing. Spans are made afterwards, from times and ids that
// were kept, and only for what is sampled; without an exporter there is no [Tracer],
// and a nil one does nothing and costs nothing.
//
// # Bounds
//
// Labels come from bounded sets: names of events and ids of hooks beyond the bound
// count as "other"; sessions, chains and agents' ids are never labels. Spans wait in
// a bounded queue, and what does not fit is dropped and counted.
//
// # Failure
//
// A collector that is gone or hangs is logged once a minute. It never delays an
// answer.
//
// # Privacy
//
// No span, metric or label holds data of an event, a reason or a prompt.
package telemetry
