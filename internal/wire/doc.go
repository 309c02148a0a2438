// Package wire holds what both sides of the wire protocol share: the names of the
// headers, the error codes, and the one mapping between Go errors and codes.
//
// # Errors
//
// Whoever answers a request returns any error; [FromError] is the only place that
// decides which code it becomes. An [Error] keeps its code, an error with a WireCode
// method brings its own, a context's error is [Deadline], and everything else is
// [Internal]. [Error.Header] writes it into a reply and [ReadError] reads it back.
//
// # Headers
//
// NATS keeps the case of header names, and agents spell them as they like: [Get] and
// [ReadRequestHeader] read them in any case. Duplicates are not merged: the first
// value counts.
//
// The package does no I/O, and its functions may be called concurrently.
package wire
