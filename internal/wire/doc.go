// Package wire contains the parts of the wire protocol that both sides share: the names of headers,
// the error codes, and the mapping from Go errors to codes.
//
// # Errors
//
// Handlers may return any error: [FromError] is the only place that maps errors to codes. An
// [Error] keeps its code, an error with a method WireCode supplies its own, a context's error is
// [Deadline], and any other is [Internal]. [Error.Header] writes the error into a reply and
// [ReadError] reads it.
//
// # Headers
//
// NATS preserves the case of header names, and agents use different cases: [Get] and
// [ReadRequestHeader] ignore case. Only the first value of a header counts.
//
// The package does no I/O. Its functions are safe for concurrent use.
package wire
