package integration

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/server"
	"github.com/hookrouter/hookrouter/internal/telemetry"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
	"github.com/hookrouter/hookrouter/internal/webhook"
	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/approver"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
	"github.com/hookrouter/hookrouter/pkg/verdict"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// How somebody who has a trace says so, and what stands there.
const (
	theirTrace  = "0af7651916cd43dd8448eb211c80319c"
	theirSpan   = "b7ad6b7169203331"
	traceparent = "00-" + theirTrace + "-" + theirSpan + "-01"
)

// spansOf starts telemetry that keeps its spans.
func spansOf(t *testing.T) (*telemetry.Telemetry, *spanLog) {
	t.Helper()
	made := &spanLog{}
	shown, err := telemetry.Start(t.Context(), telemetry.Options{Spans: made})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = shown.Stop(context.Background()) })
	return shown, made
}

// named are the spans of a name.
func (s *spanLog) named(name string) (list []sdktrace.ReadOnlySpan) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.list {
		if one.Name() == name {
			list = append(list, one)
		}
	}
	return list
}

// linked reports whether a span has just one link, to another.
func linked(from, to sdktrace.ReadOnlySpan) bool {
	links := from.Links()
	return len(links) == 1 && links[0].SpanContext.TraceID() == to.SpanContext().TraceID() && links[0].SpanContext.SpanID() == to.SpanContext().SpanID()
}

// A person answers at a router that did not ask, after that one has gone: the wait is
// below the chain that asked, once, and it and the decision name each other.
func TestADecisionElsewhereIsLinkedToTheWait(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	ctx := testkit.Within(t, 60*time.Second)
	asking, asked := spansOf(t)
	_, stop := routertest.Start(t, s, router.Options{Telemetry: asking})
	nc := natstest.Conn(t, s)
	hook(t, ctx, nc, "asker", `{"events":["tool:pre"]}`, says(`{"action":"ask_user","approval_prompt":"Sure?"}`))
	// An agent whose trace is not sampled: approval requests are kept all the same.
	header := event("e1", "Hook-Wait-Ms", "1", "traceparent", strings.TrimSuffix(traceparent, "1")+"0")
	q := executed(t, nc, "tool:pre", header, `{}`)
	if q.Action != verdict.Pending {
		t.Fatal(q)
	}
	answering, decided := spansOf(t)
	second, _ := routertest.Start(t, s, router.Options{Telemetry: answering})
	stop()
	if _, err := second.Approvals().Answer(ctx, q.Approval.ID, approval.Answer{Option: "Allow"}, "ann"); err != nil {
		t.Fatal(err)
	}
	event, waits, decisions := asked.named("hooks.execute tool:pre"), decided.named("approval asker"), decided.named("decide asker")
	if len(event) != 1 || len(waits) != 1 || len(decisions) != 1 || len(asked.named("approval asker")) != 0 {
		t.Fatalf("%d events, %d waits, %d decisions", len(event), len(waits), len(decisions))
	}
	wait, decision := waits[0], decisions[0]
	if wait.SpanContext().TraceID().String() != theirTrace || wait.Parent().SpanID() != event[0].SpanContext().SpanID() {
		t.Errorf("the wait is not below what asked: %v", wait.Parent())
	}
	if !linked(wait, decision) || !linked(decision, wait) {
		t.Errorf("the links: %v, %v", wait.Links(), decision.Links())
	}
	if decision.Parent().IsValid() || decision.SpanContext().TraceID() == wait.SpanContext().TraceID() {
		t.Error("a decision of nobody with a trace is not in a trace of its own")
	}
	// Who asks again learns it, and makes no second wait.
	header.Set("Hook-Retry", "1")
	header.Set("Hook-Wait-Ms", "10000")
	if again := executed(t, nc, "tool:pre", header, `{}`); again.Action != verdict.Continue {
		t.Fatal(again)
	}
	if n := len(decided.named("approval asker")); n != 1 {
		t.Errorf("%d waits", n)
	}
}

// Who answers over NATS and has a trace finds the decision in it. Malformed or endless
// trace context is none.
func TestADecisionIsBelowWhoAnswers(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	ctx := testkit.Within(t, 60*time.Second)
	shown, made := spansOf(t)
	routertest.Start(t, s, router.Options{Telemetry: shown})
	nc := natstest.Conn(t, s)
	hook(t, ctx, nc, "asker", `{"events":["tool:pre"]}`, says(`{"action":"ask_user"}`))
	granted := listen(t, nc, "hooks.event.approval.granted")
	for name, tt := range map[string]struct {
		parent, state string
		below         bool
	}{
		"well-formed":          {traceparent, "a=b", true},
		"an endless state":     {traceparent, "a=" + strings.Repeat("b", 10<<10), true},
		"malformed":            {"00-xyz", "", false},
		"an endless one":       {traceparent + strings.Repeat("-x", 5<<10), "", false},
		"of a future version":  {"01" + traceparent[2:] + "-more", "", true},
		"none":                 {"", "", false},
		"all zeros":            {"00-" + strings.Repeat("0", 32) + "-" + theirSpan + "-01", "", false},
		"of letters above hex": {strings.ToUpper(traceparent), "", false},
	} {
		t.Run(name, func(t *testing.T) {
			q := executed(t, nc, "tool:pre", event(strings.ReplaceAll(name, " ", "-"), "Hook-Wait-Ms", "1"), `{}`)
			header := nats.Header{"traceparent": {tt.parent}, "tracestate": {tt.state}}
			if m := request(t, ctx, nc, "hooks.approve."+q.Approval.ID, header, `{"option":"Allow"}`); code(m) != "" {
				t.Fatal(m.Header)
			}
			news := next(t, ctx, granted)
			decision := made.having("decide asker", telemetry.KeyApproval, q.Approval.ID)
			if below := decision.Parent().SpanID().String() == theirSpan && decision.SpanContext().TraceID().String() == theirTrace; below != tt.below {
				t.Errorf("below who answered: %v, want %v", below, tt.below)
			}
			if got, want := news.Header.Get("traceparent"), headerOf(decision); got != want {
				t.Errorf("approval:granted carries %q, want the decision's %q", got, want)
			}
		})
	}
}

// headerOf is the traceparent of a span that is sampled.
func headerOf(s sdktrace.ReadOnlySpan) string {
	return "00-" + s.SpanContext().TraceID().String() + "-" + s.SpanContext().SpanID().String() + "-01"
}

// pkg/approver passes the trace of its caller on.
func TestAnApproverPassesItsTraceOn(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	ctx := testkit.Within(t, 30*time.Second)
	shown, made := spansOf(t)
	routertest.Start(t, s, router.Options{Telemetry: shown})
	nc := natstest.Conn(t, s)
	hook(t, ctx, nc, "asker", `{"events":["tool:pre"]}`, says(`{"action":"ask_user"}`))
	q := executed(t, nc, "tool:pre", event("e1", "Hook-Wait-Ms", "1"), `{}`)
	a := approver.New(natstest.Client(t, hookrouter.Options{Conn: natstest.Conn(t, s)}))
	if _, err := a.Answer(telemetry.Remote(ctx, traceparent, ""), q.Approval.ID, approval.Answer{Option: "Deny"}); err != nil {
		t.Fatal(err)
	}
	testkit.Until(t, ctx, "the decision has its span", func() bool { return len(made.named("decide asker")) == 1 })
	if parent := made.named("decide asker")[0].Parent(); parent.SpanID().String() != theirSpan {
		t.Errorf("the decision is below %v", parent)
	}
}

// Trace context goes out with a webhook and comes in with an answer over HTTP; baggage
// goes nowhere. Without tracing what goes out is the agent's own.
func TestTraceContextOverHTTP(t *testing.T) {
	t.Parallel()
	for name, tracing := range map[string]bool{"with tracing": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			news := make(chan http.Header, 8)
			receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { news <- r.Header }))
			t.Cleanup(receiver.Close)
			o := server.Options{Webhook: webhook.Options{URLs: []string{receiver.URL}, Secret: "whsec_" + strings.Repeat("QUJD", 10)}}
			made := &spanLog{}
			if tracing {
				o.Telemetry, made = spansOf(t)
			}
			n := startNode(t, o)
			ctx := testkit.Within(t, 60*time.Second)
			nc := natstest.Conn(t, n.InProcess())
			hook(t, ctx, nc, "asker", `{"events":["tool:pre"]}`, says(`{"action":"ask_user"}`))
			required := listen(t, nc, "hooks.event.approval.required")
			q := executed(t, nc, "tool:pre", event("e1", "Hook-Wait-Ms", "1", "traceparent", traceparent, "baggage", "token=kPl3"), `{}`)
			asked, published := take(t, ctx, news), next(t, ctx, required)
			answered(t, ctx, n, q.Approval.ID, http.Header{"Traceparent": {"00-" + theirTrace + "-00f067aa0ba902b7-01"}, "Baggage": {"token=kPl3"}})
			resolved := take(t, ctx, news)
			wantAsked, wantResolved := traceparent, traceparent
			if tracing {
				wait, decision := made.named("approval asker")[0], made.named("decide asker")[0]
				wantAsked, wantResolved = headerOf(wait), headerOf(decision)
				if decision.Parent().SpanID().String() != "00f067aa0ba902b7" {
					t.Errorf("the decision is below %v", decision.Parent())
				}
			}
			if got := asked.Get("Traceparent"); got != wantAsked || published.Header.Get("traceparent") != wantAsked {
				t.Errorf("the approval request carries %q over HTTP and %q over NATS, want %q", got, published.Header.Get("traceparent"), wantAsked)
			}
			if got := resolved.Get("Traceparent"); got != wantResolved {
				t.Errorf("the decision carries %q, want %q", got, wantResolved)
			}
			if asked.Get("Baggage") != "" || resolved.Get("Baggage") != "" {
				t.Error("baggage went out")
			}
		})
	}
}

// answered answers an approval request over HTTP.
func answered(t *testing.T, ctx context.Context, n *server.Server, id string, header http.Header) {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+n.HTTPAddr()+"/v1/approvals/"+id, strings.NewReader(`{"option":"Allow"}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = header
	r.Header.Set("Authorization", "Bearer "+n.ConsoleToken())
	if status, body := send(t, r); status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
}

// Contributions and each of their answers have spans, at all three programs.
func TestContributionsAreATraceToo(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	ctx := testkit.Within(t, 60*time.Second)
	traced(t, s, router.Options{})
	w := newWorker(t, natstest.Conn(t, s), worker.Options{})
	for id, give := range map[string]func(context.Context, string) (any, error){
		"gives": func(ctx context.Context, _ string) (any, error) {
			return trace.SpanContextFromContext(ctx).IsValid(), nil
		},
		"fails": func(context.Context, string) (any, error) { return nil, context.DeadlineExceeded },
	} {
		if _, err := w.RegisterContributor(ctx, worker.Registration{ID: id, Channels: []string{"ops.status"}}, give); err != nil {
			t.Fatal(err)
		}
	}
	a := newAgent(t, natstest.Conn(t, s), agent.Options{})
	got, err := a.CollectContributions(telemetry.Remote(ctx, "00-11111111111111111111111111111111-"+theirSpan+"-01", ""), "ops.status", 5*time.Second)
	if err != nil || len(got.Values) != 1 || string(got.Values[0]) != "true" || len(got.Missing) != 1 {
		t.Fatal(got, err)
	}
	id, _ := trace.TraceIDFromHex("11111111111111111111111111111111")
	testkit.Until(t, ctx, "the trace is whole", func() bool { return len(seen.of(id)) == 6 })
	spans := seen.of(id)
	for name, below := range map[string]string{
		"hooks.contributions ops.status": "contributions ops.status", "call gives": "hooks.contributions ops.status", "call fails": "hooks.contributions ops.status",
		"hook gives": "call gives", "hook fails": "call fails",
	} {
		if spans[name] == nil || spans[below] == nil || spans[name].Parent().SpanID() != spans[below].SpanContext().SpanID() {
			t.Errorf("%q is not below %q", name, below)
		}
	}
	for span, want := range map[string]map[attribute.Key]string{
		"hooks.contributions ops.status": {telemetry.KeyChannel: "ops.status", telemetry.KeyHooks: "2", telemetry.KeyEvent: "contribution:collect"},
		"contributions ops.status":       {telemetry.KeyChannel: "ops.status", telemetry.KeyEvent: ""},
		"hook gives":                     {telemetry.KeyChannel: "ops.status"},
		"call fails":                     {telemetry.KeyFailure: "timeout"},
		"hook fails":                     {telemetry.KeyFailure: "timeout"},
	} {
		for key, value := range want {
			if got := attr(spans[span], key); got != value {
				t.Errorf("%s of %q is %q, want %q", key, span, got, value)
			}
		}
	}
}
