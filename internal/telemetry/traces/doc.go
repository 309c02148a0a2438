// Package traces reads what happened to an event as a tree of spans, from Jaeger's HTTP API or from
// the audit log.
//
// # Jaeger
//
// [Jaeger.Chain] finds the trace with a chain's span and returns the part of it that belongs to the
// chain: the agent's request and everything below. A trace may contain a whole turn with many
// chains. [Jaeger.Trace] returns a whole trace.
//
// # The audit log
//
// [FromAudit] makes spans from a chain's records, beginning with the event's arrival. They do not
// include spans of agents and workers, or priorities.
//
// # Bounds
//
// Jaeger's responses are untrusted: they may have at most 32 MiB and take 15 seconds, and malformed
// ones are errors. Texts in spans are not escaped for terminals.
package traces
