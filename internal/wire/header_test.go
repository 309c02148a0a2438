package wire_test

import (
	"context"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/trace"

	"github.com/hookrouter/hookrouter/internal/wire"
)

func TestHeadersAreReadInAnyCase(t *testing.T) {
	t.Parallel()
	h := wire.Header{"hook-timeout-ms": {"5", "6"}, "Hook-Defaults": {"{}"}, "TRACEPARENT": {"00-1"}, "Hook-Retry": {}}
	if got := wire.Get(h, wire.HeaderTimeout); got != "5" {
		t.Errorf("Get(%s) = %q, want the first value", wire.HeaderTimeout, got)
	}
	if got := wire.Get(h, wire.HeaderRetry); got != "" {
		t.Errorf("a header without values reads as %q", got)
	}
	want := wire.RequestHeader{Timeout: "5", Defaults: "{}", Traceparent: "00-1", Size: 62}
	if diff := cmp.Diff(want, wire.ReadRequestHeader(h)); diff != "" {
		t.Errorf("ReadRequestHeader (-want +got):\n%s", diff)
	}
}

// Go iterates over a map in random order: the spelling of the protocol must win whichever name
// comes first.
func TestTheSpellingOfTheProtocolWins(t *testing.T) {
	t.Parallel()
	h := wire.Header{"hook-wait-ms": {"1"}, wire.HeaderWait: {"2"}, "HOOK-WAIT-MS": {"3"}}
	for range 50 {
		if got := wire.ReadRequestHeader(h).Wait; got != "2" {
			t.Fatalf("Wait = %q, want that of %s", got, wire.HeaderWait)
		}
		if got := wire.Get(h, wire.HeaderWait); got != "2" {
			t.Fatalf("Get = %q, want that of %s", got, wire.HeaderWait)
		}
	}
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	const fallback, longest = 5 * time.Second, time.Minute
	for text, want := range map[string]time.Duration{
		"":                                   fallback,
		"1":                                  time.Millisecond,
		"1500":                               1500 * time.Millisecond,
		"60000":                              longest,
		"60001":                              longest,
		strconv.FormatInt(math.MaxInt64, 10): longest,
	} {
		if got, err := wire.Timeout(text, fallback, longest); err != nil || got != want {
			t.Errorf("Timeout(%q) = %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"0", "-1", "1.5", "5s", " 5", "9223372036854775808", "abc"} {
		if _, err := wire.Timeout(text, fallback, longest); wire.CodeOf(err) != wire.Malformed {
			t.Errorf("Timeout(%q) = %v, want the code %d", text, err, wire.Malformed)
		}
	}
	if _, err := wire.Timeout("x"+strings.Repeat("é", 100), fallback, longest); !strings.Contains(err.Error(), `é..."`) || strings.Contains(err.Error(), `\x`) {
		t.Errorf("the error cuts a character in two: %v", err)
	}
}

func TestTraceContextIsInjectedUnderItsOwnNames(t *testing.T) {
	t.Parallel()
	empty := wire.Header{}
	wire.InjectTrace(t.Context(), empty)
	if len(empty) != 0 {
		t.Errorf("a context without a trace sets %v", empty)
	}
	ctx := trace.ContextWithSpanContext(context.Background(), trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}, TraceFlags: trace.FlagsSampled,
	}))
	h := wire.Header{}
	wire.InjectTrace(ctx, h)
	want := wire.Header{"traceparent": {"00-01000000000000000000000000000000-0200000000000000-01"}}
	if diff := cmp.Diff(want, h); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
