package telemetry_test

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.uber.org/goleak"

	"github.com/hookrouter/hookrouter/internal/telemetry"
	"github.com/hookrouter/hookrouter/internal/telemetry/otlp"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// spans keeps what is made.
type spans struct {
	mu   sync.Mutex
	list []sdktrace.ReadOnlySpan
}

func (s *spans) OnStart(context.Context, sdktrace.ReadWriteSpan) {}
func (s *spans) Shutdown(context.Context) error                  { return nil }
func (s *spans) ForceFlush(context.Context) error                { return nil }
func (s *spans) OnEnd(one sdktrace.ReadOnlySpan) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, one)
}

func (s *spans) names() (names []string) {
	for _, one := range s.list {
		names = append(names, one.Name())
	}
	return names
}

const (
	parent    = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	unsampled = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"
)

// Spans wait in memory for the collector, so what a sender chooses is cut.
func TestWhatSendersChooseIsCutInSpans(t *testing.T) {
	made := &spans{}
	shown := start(t, telemetry.Options{Spans: made})
	c := three()
	long := strings.Repeat("x", 16<<10)
	c.Source, c.EventID, c.Session, c.Root, c.Depth = "/"+long, long, long, long, 1
	tr := shown.Tracer.Begin(telemetry.Sender{Traceparent: parent, ChainID: c.ChainID})
	shown.Tracer.Chain(tr, c)
	shown.Tracer.Decided(context.Background(), telemetry.Approval{ID: "a", Trace: tr.Header(), Session: long, DecidedBy: long, Asked: c.Came, Decided: c.End})
	for _, one := range made.list {
		for _, kv := range one.Attributes() {
			if n := len(kv.Value.AsString()); n > 300 {
				t.Errorf("%s has the attribute %s with %d bytes", one.Name(), kv.Key, n)
			}
		}
	}
}

func TestSpansAreMadeUnderTheIdsThatHooksWereTold(t *testing.T) {
	made := &spans{}
	shown := start(t, telemetry.Options{Spans: made})
	c := three()
	c.Outcome.Skipped = []*chain.Entry{{Registration: chain.Registration{ID: "skipped", Priority: 1}, Order: 9}}
	tr := shown.Tracer.Begin(telemetry.Sender{Traceparent: parent, ChainID: c.ChainID})
	told := tr.Call("hook1")
	shown.Tracer.Chain(tr, c)
	if got, want := made.names(), []string{"hooks.emit tool:pre", "call hook0", "call hook1", "call hook2", "match skipped", "audit append"}; !slices.Equal(got, want) {
		t.Fatalf("spans %q, want %q", got, want)
	}
	root, call := made.list[0], made.list[2]
	if root.Parent().SpanID().String() != "b7ad6b7169203331" || root.SpanContext().TraceID().String() != "0af7651916cd43dd8448eb211c80319c" {
		t.Errorf("the event's span is not below the sender's: %v", root.Parent())
	}
	if want := "00-0af7651916cd43dd8448eb211c80319c-" + call.SpanContext().SpanID().String() + "-01"; told != want {
		t.Errorf("the hook was told %s, and the span is %s", told, want)
	}
	for _, one := range made.list[1:] {
		if one.Parent().SpanID() != root.SpanContext().SpanID() {
			t.Errorf("%s is not below the event's span", one.Name())
		}
	}
	if !call.StartTime().Equal(c.Outcome.Calls[1].Start) || call.EndTime().Sub(call.StartTime()) != time.Millisecond {
		t.Errorf("the call's times are %v to %v", call.StartTime(), call.EndTime())
	}
	if skipped := made.list[4]; !skipped.StartTime().Equal(call.EndTime()) {
		t.Errorf("what was skipped stands at %v, not after the hook before it", skipped.StartTime())
	}
}

func TestEventsWithoutTraceContextShareTheTraceOfTheirTurn(t *testing.T) {
	shown := start(t, telemetry.Options{Spans: &spans{}})
	trace := func(session, turn, traceparent string) string {
		tr := shown.Tracer.Begin(telemetry.Sender{Session: session, Turn: turn, Traceparent: traceparent, ChainID: events.NewID()})
		return strings.Split(tr.Header(), "-")[1]
	}
	turn, session := trace("s1", "p1", ""), trace("s1", "", "")
	if turn != trace("s1", "p1", "") {
		t.Error("two events of a turn are in two traces")
	}
	if trace("s1", "p1", "") == trace("s1", "p2", "") || trace("s1", "p1", "") == trace("s2", "p1", "") || trace("s1", "", "") == trace("s1", "p1", "") {
		t.Error("events of two turns, or two sessions, are in one trace")
	}
	if session != trace("s1", "", "") {
		t.Error("two events of a session without turns are in two traces")
	}
	if alone := trace("", "", ""); alone == trace("", "", "") {
		t.Error("two events without a session are in one trace")
	}
	for _, bad := range []string{"x", strings.Repeat("0", 10<<10), "00-00000000000000000000000000000000-b7ad6b7169203331-01", parent + "-more", "ff" + parent[2:], "01" + parent[2:] + "-" + strings.Repeat("x", 10<<10)} {
		if trace("s1", "p1", bad) != trace("s1", "p1", "") {
			t.Errorf("the malformed traceparent %.60q is taken", bad)
		}
	}
}

func TestWhatMattersIsKeptWhateverTheHeadDecided(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*telemetry.Chain)
		kept   bool
	}{
		"an event that went on":               {func(*telemetry.Chain) {}, false},
		"a denial":                            {func(c *telemetry.Chain) { c.Outcome.Result.Action = chain.Deny }, true},
		"an approval request":                 {func(c *telemetry.Chain) { c.Outcome.Result.Action = chain.AskUser }, true},
		"an approval request that is pending": {func(c *telemetry.Chain) { c.Action = "pending" }, true},
		"a hook that failed and was passed": {func(c *telemetry.Chain) {
			c.Outcome.Calls[0].Failure, c.Outcome.Calls[0].FailedOpen = chain.FailedError, true
		}, true},
		"an answer that the log refused": {func(c *telemetry.Chain) { c.Refused = 503 }, true},
		"a chain without time":           {func(c *telemetry.Chain) { c.Refused = 504 }, true},
		"a collect with a silent hook": {func(c *telemetry.Chain) {
			c.Answers = []telemetry.Answer{{Entry: &chain.Entry{}, Failure: chain.FailedTimeout}}
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			made := &spans{}
			shown := start(t, telemetry.Options{Spans: made})
			c := three()
			tt.change(c)
			shown.Tracer.Chain(shown.Tracer.Begin(telemetry.Sender{Traceparent: unsampled, ChainID: c.ChainID}), c)
			if kept := len(made.list) > 0; kept != tt.kept {
				t.Errorf("kept: %v", kept)
			}
		})
	}
}

func TestSamplingIsWhatTheEnvironmentSays(t *testing.T) {
	for name, tt := range map[string]struct {
		sampler, arg, traceparent string
		sampled, of               int // of so many traces
	}{
		"nothing said":                 {"", "", "", 200, 200},
		"nothing said, a parent":       {"", "", unsampled, 0, 1},
		"always on above a parent":     {"always_on", "", unsampled, 1, 1},
		"always off":                   {"always_off", "", "", 0, 200},
		"a tenth":                      {"traceidratio", "0.1", "", 20, 200},
		"none by a ratio":              {"traceidratio", "0", "", 0, 200},
		"all by a ratio":               {"traceidratio", "1", "", 200, 200},
		"none, but the parent's is":    {"parentbased_always_off", "", parent, 1, 1},
		"a ratio, but the parent's is": {"parentbased_traceidratio", "0", parent, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("OTEL_TRACES_SAMPLER", tt.sampler)
			t.Setenv("OTEL_TRACES_SAMPLER_ARG", tt.arg)
			shown := start(t, telemetry.Options{Exporters: otlp.Exporters(), Spans: &spans{}})
			n := 0
			for range tt.of {
				tr := shown.Tracer.Begin(telemetry.Sender{Traceparent: tt.traceparent, Session: events.NewID(), ChainID: events.NewID()})
				if trace.SpanContextFromContext(tr.Context()).IsSampled() {
					n++
				}
			}
			if diff := n - tt.sampled; diff < -20 || diff > 20 || tt.sampled%tt.of == 0 && diff != 0 {
				t.Errorf("%d of %d are sampled, want %d", n, tt.of, tt.sampled)
			}
		})
	}
}

func TestWrongSettingsAreRefusedWithTheirName(t *testing.T) {
	for variable, value := range map[string]string{
		"OTEL_TRACES_SAMPLER": "sometimes", "OTEL_TRACES_EXPORTER": "carrier-pigeon", "OTEL_LOGS_EXPORTER": "carrier-pigeon",
	} {
		t.Run(variable, func(t *testing.T) {
			t.Setenv(variable, value)
			if _, err := telemetry.Start(t.Context(), telemetry.Options{Exporters: otlp.Exporters()}); err == nil || !strings.Contains(err.Error(), variable) {
				t.Errorf("error %v, want one that names %s", err, variable)
			}
		})
	}
	t.Run("a ratio above one", func(t *testing.T) {
		t.Setenv("OTEL_TRACES_SAMPLER", "traceidratio")
		t.Setenv("OTEL_TRACES_SAMPLER_ARG", "10")
		if _, err := telemetry.Start(t.Context(), telemetry.Options{Exporters: otlp.Exporters()}); err == nil || !strings.Contains(err.Error(), "from 0 to 1") {
			t.Errorf("error %v", err)
		}
	})
}

func TestWithoutAnExporterThereIsNoTracer(t *testing.T) {
	for name, env := range map[string]map[string]string{
		"nothing is set":                 {},
		"none":                           {"OTEL_TRACES_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"},
		"telemetry is disabled":          {"OTEL_SDK_DISABLED": "true", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"},
		"variables, but not read at all": nil,
	} {
		t.Run(name, func(t *testing.T) {
			for k, v := range env {
				t.Setenv(k, v)
			}
			if env == nil {
				t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
			}
			var o telemetry.Options
			if env != nil {
				o.Exporters = otlp.Exporters()
			}
			if shown := start(t, o); shown.Tracer != nil {
				t.Error("there is a tracer")
			}
		})
	}
}

// A collector that takes connections and never answers costs nobody anything: spans
// beyond the queue are dropped, and the log says so once.
func TestACollectorThatHangsDelaysNothing(t *testing.T) {
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var held sync.WaitGroup
	var mu sync.Mutex
	var conns []net.Conn
	held.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			conns = append(conns, c)
			mu.Unlock()
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		held.Wait()
		for _, c := range conns {
			_ = c.Close()
		}
	})
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://"+l.Addr().String())
	t.Setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "100") // ms
	t.Setenv("OTEL_BSP_MAX_QUEUE_SIZE", "1000")
	t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "10")
	t.Setenv("OTEL_BSP_EXPORT_TIMEOUT", "100")
	said := &lines{}
	shown, err := telemetry.Start(t.Context(), telemetry.Options{Exporters: otlp.Exporters(), Log: slog.New(slog.NewTextHandler(said, nil))})
	if err != nil {
		t.Fatal(err)
	}
	const chains = 20_000
	run := func(shown *telemetry.Telemetry) time.Duration {
		began := time.Now()
		for range chains {
			c := three()
			shown.Tracer.Chain(shown.Tracer.Begin(telemetry.Sender{ChainID: c.ChainID, Session: "s1"}), c)
		}
		return time.Since(began)
	}
	control := run(start(t, telemetry.Options{Spans: discard{}}))
	before, began := heap(), time.Now()
	took := run(shown)
	t.Logf("an event takes %v, and %v with a collector that hangs", control/chains, took/chains)
	if took > 5*control+time.Second { // waiting for each batch would take 20 s
		t.Errorf("%d events take %v with a collector that hangs, %v without one", chains, took, control)
	}
	if grown := int64(heap()) - int64(before); grown > 32<<20 {
		t.Errorf("the heap grew by %d bytes", grown)
	}
	testkit.Until(t, testkit.Within(t, 10*time.Second), "the collector's failure is logged", func() bool { return said.count() > 0 })
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	_ = shown.Stop(ctx) // what waits can't be sent
	if time.Since(began)-took > 15*time.Second {
		t.Error("it could not be stopped in time")
	}
	if n := said.count(); n != 1 {
		t.Errorf("%d lines were logged, want one a minute:\n%s", n, said)
	}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// lines is a log.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) count() int { return strings.Count(l.String(), "\n") }

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func BenchmarkSpans(b *testing.B) {
	shown := start(b, telemetry.Options{Spans: discard{}})
	c := three()
	b.ReportAllocs()
	for b.Loop() {
		tr := shown.Tracer.Begin(telemetry.Sender{Traceparent: parent, ChainID: c.ChainID})
		_, _ = tr.Header(), tr.Call("hook0")
		shown.Tracer.Chain(tr, c)
	}
}

// discard takes spans and forgets them.
type discard struct{}

func (discard) OnStart(context.Context, sdktrace.ReadWriteSpan) {}
func (discard) OnEnd(sdktrace.ReadOnlySpan)                     {}
func (discard) Shutdown(context.Context) error                  { return nil }
func (discard) ForceFlush(context.Context) error                { return nil }

// What OpenTelemetry would replace in silence is refused, and no value is shown.
func TestValuesThatMeanSomethingElseAreRefused(t *testing.T) {
	for variable, value := range map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT":        "127.0.0.1:4318",
		"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://secret@[bad",
		"OTEL_METRICS_EXPORTER":              "nothing-known",
		"OTEL_BSP_MAX_QUEUE_SIZE":            "lots",
		"OTEL_BSP_SCHEDULE_DELAY":            "1s",
	} {
		t.Run(variable, func(t *testing.T) {
			t.Setenv(variable, value)
			_, err := telemetry.Start(t.Context(), telemetry.Options{Exporters: otlp.Exporters()})
			if err == nil || !strings.Contains(err.Error(), variable) || strings.Contains(err.Error(), "secret") {
				t.Errorf("Start = %v", err)
			}
		})
	}
}
