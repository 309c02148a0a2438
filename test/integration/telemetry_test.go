package integration

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/hookrouter/hookrouter/internal/dispatch"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/telemetry"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/verdict"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// seen is every span that this process made: of agents and workers through
// OpenTelemetry's global tracer, of routers through their own.
var seen = &spanLog{}

// tracing sets the global tracer up, once for the process.
var tracing = sync.OnceFunc(func() {
	otel.SetTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(seen)))
})

// spanLog keeps spans.
type spanLog struct {
	mu   sync.Mutex
	list []sdktrace.ReadOnlySpan
}

func (s *spanLog) OnStart(context.Context, sdktrace.ReadWriteSpan) {}
func (s *spanLog) Shutdown(context.Context) error                  { return nil }
func (s *spanLog) ForceFlush(context.Context) error                { return nil }
func (s *spanLog) OnEnd(one sdktrace.ReadOnlySpan) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, one)
}

// of are the spans of a trace, by name.
func (s *spanLog) of(id trace.TraceID) map[string]sdktrace.ReadOnlySpan {
	s.mu.Lock()
	defer s.mu.Unlock()
	named := map[string]sdktrace.ReadOnlySpan{}
	for _, one := range s.list {
		if one.SpanContext().TraceID() == id {
			named[one.Name()] = one
		}
	}
	return named
}

// having is a span with a name and an attribute, nil as long as there is none.
func (s *spanLog) having(name string, key attribute.Key, value string) sdktrace.ReadOnlySpan {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.list {
		if one.Name() == name && attr(one, key) == value {
			return one
		}
	}
	return nil
}

// attr is the text of an attribute, "" where it is missing.
func attr(s sdktrace.ReadOnlySpan, key attribute.Key) string {
	for _, kv := range s.Attributes() {
		if kv.Key == key {
			return kv.Value.String()
		}
	}
	return ""
}

// traced starts a router with spans and metrics.
func traced(t *testing.T, s nats.InProcessConnProvider, o router.Options) *telemetry.Telemetry {
	t.Helper()
	tracing()
	shown, err := telemetry.Start(t.Context(), telemetry.Options{Spans: seen})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = shown.Stop(context.Background()) })
	o.Telemetry = shown
	routertest.Start(t, s, o)
	return shown
}

// One event is one trace, from the agent through the router to each worker; who is
// below whom, and what the tags say, is what happened.
func TestAnEventIsOneTrace(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	ctx := testkit.Within(t, 20*time.Second)
	traced(t, s, router.Options{})
	w := newWorker(t, natstest.Conn(t, s), worker.Options{})
	register(t, ctx, w, worker.Registration{ID: "first", Events: []string{"tool:pre"}, Priority: -5}, func(context.Context, worker.Event) (worker.Result, error) {
		return worker.Modify(map[string]string{"tool_name": "Bash", "secret": "kPl3"})
	})
	register(t, ctx, w, worker.Registration{ID: "never", Events: []string{"tool:pre"}, Match: `data.tool_name == "Write"`}, nothing)
	register(t, ctx, w, worker.Registration{ID: "broken", Events: []string{"tool:pre"}, Priority: 1}, func(context.Context, worker.Event) (worker.Result, error) {
		return worker.Result{}, context.DeadlineExceeded
	})
	register(t, ctx, w, worker.Registration{ID: "guard", Events: []string{"tool:pre"}, Priority: 2}, func(ctx context.Context, _ worker.Event) (worker.Result, error) {
		if !trace.SpanContextFromContext(ctx).IsValid() {
			t.Error("the handler's context has no span")
		}
		return worker.Deny("no kPl3")
	})
	register(t, ctx, w, worker.Registration{ID: "watcher", Events: []string{"tool:pre"}, Mode: chain.Observe}, nothing)
	a := newAgent(t, natstest.Conn(t, s), agent.Options{Session: "s1"})

	ctx, span := otel.Tracer("test").Start(ctx, "turn")
	answer, err := a.Emit(ctx, "tool:pre", map[string]string{"tool_name": "Bash", "prompt": "kPl3"})
	span.End()
	if err != nil || answer.DeniedBy != "guard" {
		t.Fatal(answer, err)
	}
	id := span.SpanContext().TraceID()
	testkit.Until(t, ctx, "the trace is whole", func() bool { return len(seen.of(id)) >= 11 })
	got := seen.of(id)
	for name, below := range map[string]string{
		"emit tool:pre": "turn", "hooks.emit tool:pre": "emit tool:pre",
		"call first": "hooks.emit tool:pre", "hook first": "call first",
		"call broken": "hooks.emit tool:pre", "hook broken": "call broken",
		"call guard": "hooks.emit tool:pre", "hook guard": "call guard",
		"match never": "hooks.emit tool:pre", "audit append": "hooks.emit tool:pre",
	} {
		one, parent := got[name], got[below]
		switch {
		case one == nil:
			t.Errorf("there is no span %q", name)
		case parent == nil || one.Parent().SpanID() != parent.SpanContext().SpanID():
			t.Errorf("%q is not below %q", name, below)
		case name != "audit append" && one.StartTime().Before(parent.StartTime()):
			t.Errorf("%q begins before %q", name, below)
		}
	}
	root := got["hooks.emit tool:pre"]
	for key, want := range map[attribute.Key]string{
		telemetry.KeyAction: "deny", telemetry.KeyDeniedBy: "guard", telemetry.KeySession: "s1", telemetry.KeyChain: answer.ChainID,
		telemetry.KeyFailedOpen: "true", telemetry.KeyHooks: "3", telemetry.KeyAudit: "strict", "cloudevents.event_id": answer.EventID,
		"messaging.system": "nats",
	} {
		if value := attr(root, key); value != want {
			t.Errorf("%s is %q, want %q", key, value, want)
		}
	}
	if root.Status().Code == codes.Error || root.SpanKind() != trace.SpanKindServer {
		t.Error("a denial is an error, or the span is no server's")
	}
	if call := got["call first"]; attr(call, telemetry.KeyPriority) != "-5" || attr(call, telemetry.KeyAction) != "modify" || attr(call, telemetry.KeyMode) != "enforce" {
		t.Errorf("the call's tags: %v", call.Attributes())
	}
	if call := got["call broken"]; call.Status().Code != codes.Error || attr(call, telemetry.KeyFailure) != "timeout" || attr(call, telemetry.KeyFailedOpen) != "true" {
		t.Errorf("the failed call: %v %v", call.Status(), call.Attributes())
	}
	for name, one := range got {
		if text, _ := json.Marshal(one.Attributes()); strings.Contains(string(text)+one.Status().Description, "kPl3") {
			t.Errorf("data stands in the span %q: %s", name, text)
		}
	}
	testkit.Until(t, ctx, "the observer has a span of its own", func() bool { return seen.having("hook watcher", telemetry.KeyChain, answer.ChainID) != nil })
	watched := seen.having("hook watcher", telemetry.KeyChain, answer.ChainID)
	if links := watched.Links(); watched.SpanContext().TraceID() == id || len(links) != 1 || links[0].SpanContext.SpanID() != root.SpanContext().SpanID() {
		t.Errorf("the observer's span has the links %v", links)
	}
}

func nothing(context.Context, worker.Event) (worker.Result, error) { return worker.Continue() }

// Agents that know nothing of traces get one that the turn shares.
func TestEventsOfPlainClientsShareATrace(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	ctx := testkit.Within(t, 20*time.Second)
	traced(t, s, router.Options{})
	nc := natstest.Conn(t, s)
	told, states := make(chan string, 10), make(chan string, 20)
	hook(t, ctx, nc, "h1", `{"events":["*"]}`, func(m *nats.Msg) []byte {
		told <- m.Header.Get("traceparent")
		states <- m.Header.Get("tracestate")
		return []byte("{}")
	})
	trace := func(header nats.Header, body string) string {
		request(t, ctx, nc, "hooks.emit.tool.pre", header, body)
		parts := strings.Split(take(t, ctx, told), "-")
		if len(parts) != 4 {
			t.Fatalf("the hook got no traceparent: %q", parts)
		}
		return parts[1]
	}
	turn := trace(nil, `{"session_id":"sh1","prompt_id":"p1"}`)
	for name, tt := range map[string]struct {
		header nats.Header
		body   string
		same   bool
	}{
		"the same prompt":        {nil, `{"session_id":"sh1","prompt_id":"p1","x":1}`, true},
		"the same, as turn_id":   {nil, `{"session_id":"sh1","turn_id":"p1"}`, true},
		"the same, as Hook-Turn": {nats.Header{"Hook-Turn": {"p1"}}, `{"session_id":"sh1"}`, true},
		"another prompt":         {nil, `{"session_id":"sh1","prompt_id":"p2"}`, false},
		"another session":        {nil, `{"session_id":"sh2","prompt_id":"p1"}`, false},
		"malformed trace context": {
			nats.Header{"traceparent": {strings.Repeat("z", 10<<10)}, "tracestate": {strings.Repeat("z", 10<<10)}}, `{"session_id":"sh1","prompt_id":"p1"}`, true,
		},
	} {
		if got := trace(tt.header, tt.body); (got == turn) != tt.same {
			t.Errorf("%s: trace %s, the turn's is %s", name, got, turn)
		}
	}
	for len(states) > 0 {
		<-states
	}
	endless := "a=" + strings.Repeat("b", 10<<10)
	for name, tt := range map[string]struct{ parent, state, want string }{
		"a sender's span":      {traceparent, "a=b", "a=b"},
		"a malformed one":      {"00-x", "a=b", ""},
		"one with a long list": {traceparent, endless, ""},
	} {
		request(t, ctx, nc, "hooks.emit.tool.pre", nats.Header{"traceparent": {tt.parent}, "tracestate": {tt.state}}, `{}`)
		take(t, ctx, told)
		if got := take(t, ctx, states); got != tt.want {
			t.Errorf("%s: the tracestate is %.20q, want %q", name, got, tt.want)
		}
	}
}

// Without tracing, hooks get the trace context of the sender as it came; baggage only
// where the operator allows it.
func TestTraceContextIsPassedOnAsItCame(t *testing.T) {
	t.Parallel()
	const sent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	for name, forward := range map[string]bool{"baggage is kept back": false, "baggage is allowed": true} {
		t.Run(name, func(t *testing.T) {
			s := natstest.Server(t)
			ctx := testkit.Within(t, 20*time.Second)
			routertest.Start(t, s, router.Options{ForwardBaggage: forward})
			nc := natstest.Conn(t, s)
			told := make(chan nats.Header, 1)
			hook(t, ctx, nc, "h1", `{"events":["*"]}`, func(m *nats.Msg) []byte {
				told <- m.Header
				return []byte("{}")
			})
			request(t, ctx, nc, "hooks.emit.tool.pre", nats.Header{"traceparent": {sent}, "tracestate": {"a=b"}, "baggage": {"token=kPl3"}}, `{}`)
			h := take(t, ctx, told)
			if h.Get("traceparent") != sent || h.Get("tracestate") != "a=b" || (h.Get("baggage") == "token=kPl3") != forward {
				t.Errorf("the hook got %v", h)
			}
			long := strings.Repeat("x", 10<<10)
			request(t, ctx, nc, "hooks.emit.tool.pre", nats.Header{"traceparent": {sent}, "tracestate": {"a=" + long}, "baggage": {"a=" + long}}, `{}`)
			if h := take(t, ctx, told); h.Get("traceparent") != sent || h.Get("tracestate") != "" || h.Get("baggage") != "" {
				t.Errorf("of 10 KB the hook got %d bytes of tracestate, %d of baggage", len(h.Get("tracestate")), len(h.Get("baggage")))
			}
		})
	}
}

// A person's decision is in a trace of its own; it and the wait for it name each
// other.
func TestAWaitForAPersonAndItsDecisionAreLinked(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	ctx := testkit.Within(t, 30*time.Second)
	shown := traced(t, s, router.Options{})
	nc := natstest.Conn(t, s)
	hook(t, ctx, nc, "asker", `{"events":["tool:pre"]}`, says(`{"action":"ask_user","approval_prompt":"kPl3?"}`))
	pending := make(chan string, 1)
	a := newAgent(t, natstest.Conn(t, s), agent.Options{Session: "s1", OnPending: onPending(pending)})
	type result struct {
		agent.Execution
		err error
	}
	done := make(chan result, 1)
	turn, span := otel.Tracer("test").Start(ctx, "turn")
	go func() {
		x, err := a.Execute(turn, "tool:pre", map[string]string{"tool_name": "Bash"})
		done <- result{x, err}
	}()
	question := take(t, ctx, pending)
	age := regexp.MustCompile(`(?m)^hookrouter_approvals_oldest_age_seconds ([1-9]|0\.)`)
	seldom(t, ctx, "the open approval request is counted, and has an age", func() bool {
		text := metrics(t, shown)
		return strings.Contains(text, "hookrouter_approvals_pending 1") && age.MatchString(text)
	})
	request(t, ctx, nc, "hooks.approve."+question, nil, `{"option":"Allow","by":"ann"}`)
	x := take(t, ctx, done)
	span.End()
	if x.err != nil || !x.Permitted() {
		t.Fatal(x)
	}
	id := span.SpanContext().TraceID()
	testkit.Until(t, ctx, "wait and decision have their spans", func() bool {
		return seen.of(id)["approval asker"] != nil && seen.having("decide asker", telemetry.KeyApproval, question) != nil
	})
	got := seen.of(id)
	wait, decision := got["approval asker"], seen.having("decide asker", telemetry.KeyApproval, question)
	if wait.Parent().SpanID() != got["hooks.execute tool:pre"].SpanContext().SpanID() {
		t.Error("the wait is not below the chain that asked")
	}
	if links := wait.Links(); len(links) != 1 || links[0].SpanContext.SpanID() != decision.SpanContext().SpanID() {
		t.Errorf("the wait names %v, not the decision", links)
	}
	if links := decision.Links(); len(links) != 1 || links[0].SpanContext.SpanID() != wait.SpanContext().SpanID() {
		t.Errorf("the decision names %v, not the wait", links)
	}
	if attr(wait, telemetry.KeyAction) != "continue" || attr(wait, telemetry.KeyDecidedBy) == "" || attr(got["hooks.execute tool:pre"], telemetry.KeyAction) != "pending" {
		t.Errorf("the wait: %v", wait.Attributes())
	}
	seldom(t, ctx, "no approval request is open", func() bool {
		text := metrics(t, shown)
		return strings.Contains(text, "hookrouter_approvals_pending 0") && strings.Contains(text, `hookrouter_approvals_decided_total{kind="person",outcome="granted"} 1`)
	})
}

// A collect and each of its answers have spans.
func TestACollectIsATraceToo(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	ctx := testkit.Within(t, 20*time.Second)
	shown := traced(t, s, router.Options{})
	nc := natstest.Conn(t, s)
	hook(t, ctx, nc, "gives", `{"events":["tool:pre"]}`, says(`{"data":{"a":1}}`))
	hook(t, ctx, nc, "fails", `{"events":["tool:pre"]}`, says(`[`))
	a := newAgent(t, natstest.Conn(t, s), agent.Options{})
	turn, span := otel.Tracer("test").Start(ctx, "turn")
	if _, err := a.EmitAndCollect(turn, "tool:pre", map[string]string{}, time.Second); err != nil {
		t.Fatal(err)
	}
	span.End()
	id := span.SpanContext().TraceID()
	testkit.Until(t, ctx, "the trace is whole", func() bool { return len(seen.of(id)) == 5 })
	got := seen.of(id)
	root := got["hooks.collect tool:pre"]
	for _, name := range []string{"call gives", "call fails"} {
		if got[name] == nil || got[name].Parent().SpanID() != root.SpanContext().SpanID() {
			t.Errorf("%s is not below the collect", name)
		}
	}
	if attr(got["call fails"], telemetry.KeyFailure) != "invalid_result" {
		t.Error("the answer that failed does not say so")
	}
	if text := metrics(t, shown); !strings.Contains(text, `hookrouter_hook_failures_total{class="invalid_result",hook="fails"} 1`) {
		t.Error("the failure is not counted")
	}
	for _, line := range []string{"hookrouter_agents_seen 1", "hookrouter_agents_ungated 1"} { // a collect stops no tool
		testkit.Until(t, ctx, line+" is there", func() bool { return strings.Contains(metrics(t, shown), line+"\n") })
	}
}

// The log and the trace say what the agent was told, and why: an approval request that nobody
// could answer is a denial, and a hook whose match can't be evaluated is found.
func TestTelemetrySaysWhatTheAgentWasTold(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	ctx := testkit.Within(t, 20*time.Second)
	tracing()
	shown, spans := spansOf(t)
	log := &lockedBuffer{}
	routertest.Start(t, s, router.Options{Telemetry: shown, Log: slog.New(slog.NewJSONHandler(log, nil)), Dispatch: dispatch.Options{NoApprovals: true}})
	nc := natstest.Conn(t, s)
	hook(t, ctx, nc, "unready", `{"events":["tool:pre"],"match":"data.tool_name == 'Bash'"}`, says(`{}`))
	hook(t, ctx, nc, "asks", `{"events":["tool:pre"]}`, says(`{"action":"ask_user","approval_prompt":"Go?"}`))
	m := request(t, ctx, nc, "hooks.execute.tool.pre", nats.Header{"traceparent": {traceparent}}, `{}`)
	if !strings.Contains(string(m.Data), `"action":"deny"`) {
		t.Fatalf("told was %s", m.Data)
	}
	testkit.Until(t, ctx, "the event is logged", func() bool { return strings.Contains(log.String(), `"msg":"event denied"`) })
	if text := log.String(); !strings.Contains(text, `"action":"deny","hooks":1`) {
		t.Errorf("the log is:\n%s", text)
	}
	testkit.Until(t, ctx, "there is a span of the match", func() bool { return spans.having("match unready", telemetry.KeyFailure, "match_error") != nil })
	if one := spans.having("match unready", telemetry.KeyFailedOpen, "true"); one == nil || one.Status().Code != codes.Error {
		t.Errorf("the span of the match is %v", one)
	}
}

// Each event that was let in has one line, however it ended; that line, and
// those about its hooks, name its trace.
func TestLogLinesNameTheirTrace(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	ctx := testkit.Within(t, 60*time.Second)
	tracing()
	shown, _ := spansOf(t)
	log := &lockedBuffer{}
	handler := shown.LogTo(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}), slog.LevelDebug)
	routertest.Start(t, s, router.Options{Telemetry: shown, Log: slog.New(handler), Dispatch: dispatch.Options{ChainTimeout: time.Second}})
	nc := natstest.Conn(t, s)
	hook(t, ctx, nc, "broken", `{"events":["tool:pre"]}`, says(`[`))
	const secret = "AKIAIOSFODNN7EXAMPLE"
	hook(t, ctx, nc, "shade", `{"events":["tool:pre"],"mode":"shadow"}`, says(`{"action":"deny","reason":"not `+secret+`"}`))
	hook(t, ctx, nc, "quiet", `{"events":["tool:post"],"timeout_ms":5000}`, func(*nats.Msg) []byte { return nil })
	header := nats.Header{"traceparent": {traceparent}}
	for _, verb := range []string{"emit", "execute", "collect"} {
		request(t, ctx, nc, "hooks."+verb+".tool.pre", header, `{}`)
	}
	if m := request(t, ctx, nc, "hooks.emit.tool.post", header, `{}`); code(m) != "504" {
		t.Fatal(m.Header)
	}
	want := map[string]int{
		`event continue 0`: 2, `event collect 0`: 1, `event refused  504`: 1, `hook failed  0`: 2, `shadow hook answered deny 0`: 2,
	}
	type line struct {
		Msg, Action string
		Refused     int
		Trace       string `json:"trace_id"`
		Span        string `json:"span_id"`
	}
	got := map[string]int{}
	testkit.Until(t, ctx, "the events are logged", func() bool {
		clear(got)
		n := 0
		for text := range strings.Lines(log.String()) {
			one := decode[line](t, []byte(text))
			if one.Trace != theirTrace && one.Trace != "" || one.Trace != "" && len(one.Span) != 16 {
				t.Fatalf("the line is %s", text)
			}
			if one.Trace != "" {
				got[fmt.Sprintf("%s %s %d", one.Msg, one.Action, one.Refused)]++
				n++
			}
		}
		return n >= 8
	})
	if !maps.Equal(got, want) {
		t.Errorf("lines with a trace: %v, want %v; all:\n%s", got, want, log)
	}
	if text := log.String(); strings.Contains(text, secret) || !strings.Contains(text, `"reason":"not `) {
		t.Errorf("what a hook said is not masked:\n%s", text)
	}
}

// Who reads /metrics all the time does not keep agents from their answers.
func TestScrapesUnderLoad(t *testing.T) {
	s := natstest.Server(t)
	ctx := testkit.Within(t, 30*time.Second)
	shown := traced(t, s, router.Options{})
	nc := natstest.Conn(t, s)
	hook(t, ctx, nc, "h1", `{"events":["*"]}`, says(`{}`))
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					metrics(t, shown)
				}
			}
		})
	}
	n := testkit.Volume(t, 50, 200, 2000)
	slowest := time.Duration(0)
	for range n {
		began := time.Now()
		request(t, ctx, nc, "hooks.emit.tool.pre", nil, `{"session_id":"s1"}`)
		slowest = max(slowest, time.Since(began))
	}
	close(stop)
	wg.Wait()
	t.Logf("slowest of %d: %v", n, slowest)
	if slowest > 3*time.Second {
		t.Errorf("an answer took %v", slowest)
	}
	testkit.Until(t, ctx, "every event is counted", func() bool {
		return slices.Contains(strings.Split(metrics(t, shown), "\n"), `hookrouter_chains_total{action="continue",event="tool:pre",verb="emit"} `+strconv.Itoa(n))
	})
}

// lockedBuffer is a log that is read while it is written.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// metrics is what /metrics shows.
func metrics(t *testing.T, shown *telemetry.Telemetry) string {
	w := httptest.NewRecorder()
	shown.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody))
	return w.Body.String()
}

// onPending tells the id of an approval request.
func onPending(ids chan<- string) func(verdict.Approval) {
	return func(a verdict.Approval) { ids <- a.ID }
}
