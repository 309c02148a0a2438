package telemetry

import (
	"context"
	"encoding/hex"
	"net/http"
	"strings"

	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// Maximum lengths of trace context, in bytes.
const (
	maxTraceparent = 128
	maxTracestate  = 512
)

// IsBaggage reports whether a text is valid W3C baggage.
func IsBaggage(text string) bool {
	_, err := baggage.Parse(text)
	return err == nil
}

// readParent parses W3C trace context. If it is invalid, the result is not valid.
func readParent(traceparent, tracestate string) trace.SpanContext {
	if traceparent == "" || len(traceparent) > maxTraceparent {
		return trace.SpanContext{}
	}
	if len(tracestate) > maxTracestate {
		tracestate = ""
	}
	ctx := propagation.TraceContext{}.Extract(context.Background(), propagation.MapCarrier{"traceparent": traceparent, "tracestate": tracestate})
	return trace.SpanContextFromContext(ctx)
}

// Remote puts the trace context of a message into ctx. If it is malformed or longer than 128 bytes
// (tracestate: 512), it is ignored.
func Remote(ctx context.Context, traceparent, tracestate string) context.Context {
	if sc := readParent(traceparent, tracestate); sc.IsValid() {
		return trace.ContextWithRemoteSpanContext(ctx, sc)
	}
	return ctx
}

// Traceparent returns the traceparent of the span in ctx; empty if there is none.
func Traceparent(ctx context.Context) string {
	if sc := trace.SpanContextFromContext(ctx); sc.IsValid() {
		return traceparent(sc)
	}
	return ""
}

func traceparent(sc trace.SpanContext) string {
	var buf [55]byte
	in, id := sc.TraceID(), sc.SpanID()
	b := hex.AppendEncode(append(buf[:0], "00-"...), in[:])
	b = hex.AppendEncode(append(b, '-'), id[:])
	if sc.IsSampled() {
		return string(append(b, "-01"...))
	}
	return string(append(b, "-00"...))
}

// FromHTTP puts the trace context of each request into the request's context, as [Remote] does. It
// ignores baggage.
func FromHTTP(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if parents := r.Header.Values("traceparent"); len(parents) == 1 { // several would contradict each other
			ctx := Remote(r.Context(), parents[0], strings.Join(r.Header.Values("tracestate"), ","))
			r = r.WithContext(ctx)
		}
		next.ServeHTTP(w, r)
	})
}
