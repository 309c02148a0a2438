package telemetry_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/trace"

	"github.com/hookrouter/hookrouter/internal/telemetry"
)

// What comes over HTTP counts where it is well-formed, short, and there once.
func TestTraceContextOfARequest(t *testing.T) {
	long, wide := strings.Repeat("x", 10<<10), wideState()
	for name, tt := range map[string]struct {
		parents, states []string
		want, state     string
	}{
		"well-formed":         {[]string{parent}, []string{"a=b", "c=d"}, parent, "a=b,c=d"},
		"not sampled":         {[]string{unsampled}, nil, unsampled, ""},
		"none":                {nil, []string{"a=b"}, "", ""},
		"two":                 {[]string{parent, unsampled}, nil, "", ""},
		"malformed":           {[]string{"00-" + long[:60]}, nil, "", ""},
		"10 KB":               {[]string{parent + "-" + long}, nil, "", ""},
		"a later version":     {[]string{"01" + parent[2:] + "-more"}, nil, parent, ""},
		"10 KB, of that":      {[]string{"01" + parent[2:] + "-" + long}, nil, "", ""},
		"a state of 10 KB":    {[]string{parent}, []string{"a=" + long}, parent, ""},
		"as long as W3C lets": {[]string{parent}, []string{wide}, parent, ""},
		"10 KB in many parts": {[]string{parent}, strings.Split(strings.Repeat("a=b ", 2500), " "), parent, ""},
		"a state that is no":  {[]string{parent}, []string{"=;"}, parent, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/approvals/q", http.NoBody)
			r.Header["Traceparent"], r.Header["Tracestate"] = tt.parents, tt.states
			called := false
			telemetry.FromHTTP(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				called = true
				if got := telemetry.Traceparent(r.Context()); got != tt.want {
					t.Errorf("the request is below %q, want %q", got, tt.want)
				}
				if got := trace.SpanContextFromContext(r.Context()).TraceState().String(); got != tt.state {
					t.Errorf("its state is %.40q, want %q", got, tt.state)
				}
			})).ServeHTTP(httptest.NewRecorder(), r)
			if !called {
				t.Error("the request was not answered")
			}
		})
	}
}

// wideState is a tracestate that is well-formed and has 8 KB.
func wideState() string {
	members := make([]string, 32)
	for i := range members {
		members[i] = fmt.Sprintf("k%d=%s", i, strings.Repeat("v", 250))
	}
	return strings.Join(members, ",")
}

func TestWhatIsNoTraceContextLeavesTheOneThatIsThere(t *testing.T) {
	ctx := telemetry.Remote(t.Context(), parent, "")
	if got := telemetry.Traceparent(telemetry.Remote(ctx, "malformed", "")); got != parent {
		t.Errorf("it is %q", got)
	}
	if got := telemetry.Traceparent(t.Context()); got != "" {
		t.Errorf("of no context it is %q", got)
	}
}

// A line names the span of its context, also behind attributes and groups; one without
// has neither field.
func TestLinesNameTheSpanOfTheirContext(t *testing.T) {
	shown := start(t, telemetry.Options{})
	var text bytes.Buffer
	log := slog.New(shown.LogTo(slog.NewTextHandler(&text, nil), slog.LevelInfo))
	ctx := telemetry.Remote(t.Context(), parent, "")
	for name, l := range map[string]*slog.Logger{"plain": log, "with": log.With("a", 1), "group": log.WithGroup("g")} {
		text.Reset()
		l.InfoContext(ctx, "line")
		if s := text.String(); !strings.Contains(s, "trace_id=0af7651916cd43dd8448eb211c80319c") || !strings.Contains(s, "span_id=b7ad6b7169203331") {
			t.Errorf("%s: the line is %s", name, s)
		}
	}
	text.Reset()
	log.Info("alone")
	if strings.Contains(text.String(), "trace_id") {
		t.Errorf("the line is %s", &text)
	}
}

// Of eight scrapes at the same time four are sent away: whoever reads metrics takes no
// more than that.
func TestScrapesAtTheSameTimeAreBounded(t *testing.T) {
	shown := start(t, telemetry.Options{})
	hold := make(chan struct{})
	stop, err := shown.Watch(func() telemetry.State { <-hold; return telemetry.State{AuditMode: "strict"} })
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	handler, codes := shown.Handler(), make(chan int, 8)
	for range 8 {
		go func() {
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, httptest.NewRequestWithContext(context.Background(), http.MethodGet, "/metrics", http.NoBody))
			codes <- w.Code
		}()
	}
	for i := range 8 {
		want := http.StatusServiceUnavailable
		if i >= 4 {
			want = http.StatusOK
		}
		if code := <-codes; code != want {
			t.Errorf("answer %d is %d, want %d", i, code, want)
		}
		if i == 3 {
			close(hold)
		}
	}
}
