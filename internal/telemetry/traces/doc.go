// Package traces reads what happened to an event as a tree of spans: from Jaeger's
// HTTP API, or, where there is no Jaeger, as the audit log tells it.
//
// # Jaeger
//
// [Jaeger.Chain] finds the trace in which a router made the span of a chain, and gives
// the part of it that is about this chain: the agent's request, and all below. A trace
// may hold a whole turn, with many chains. [Jaeger.Trace] gives all of a trace.
//
// # The audit log
//
// [FromAudit] makes spans of a chain's records, from the event's coming on. Agents and
// workers have no spans there, and priorities are not recorded.
//
// # Bounds
//
// What Jaeger answers is foreign: an answer is at most 32 MiB, is waited for 15 seconds,
// and may be malformed in any way; then it is an error. Texts in spans are as they came
// and not fit for a terminal.
package traces
