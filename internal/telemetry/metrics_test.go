package telemetry_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/telemetry"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// start starts telemetry that ends with the test.
func start(t testing.TB, o telemetry.Options) *telemetry.Telemetry {
	t.Helper()
	shown, err := telemetry.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := shown.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return shown
}

// scrape reads /metrics, with exemplars where open is set.
func scrape(t testing.TB, shown *telemetry.Telemetry, open bool) string {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody)
	if open {
		r.Header.Set("Accept", "application/openmetrics-text; version=1.0.0")
	}
	w := httptest.NewRecorder()
	shown.Handler().ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		t.Fatalf("/metrics answers %d: %s", w.Code, w.Body)
	}
	return w.Body.String()
}

func has(t *testing.T, text string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if !slices.Contains(strings.Split(text, "\n"), line) {
			t.Errorf("/metrics lacks %q", line)
		}
	}
}

// three is a chain of three hooks.
func three() *telemetry.Chain {
	now := time.Now()
	out := &chain.Outcome{Result: chain.Result{Action: chain.Continue}}
	for i := range 3 {
		entry := &chain.Entry{Registration: chain.Registration{ID: fmt.Sprintf("hook%d", i), Priority: i}}
		out.Calls = append(out.Calls, chain.Call{Entry: entry, Start: now, Took: time.Millisecond})
	}
	return &telemetry.Chain{
		Verb: "emit", Event: events.ToolPre, Source: "/agent", Session: "s1", EventID: "e1", ChainID: events.NewID(),
		Came: now, End: now.Add(3 * time.Millisecond), Outcome: out, AuditMode: "strict",
		Audited: telemetry.Interval{From: now, To: now.Add(time.Millisecond)},
	}
}

func TestMetricsCountWhatHappenedToAnEvent(t *testing.T) {
	shown := start(t, telemetry.Options{Version: "1.2.3"})
	c := three()
	hops := c.Outcome.Calls
	hops[0].Result.Action = chain.InjectContext
	hops[1].Failure, hops[1].FailedOpen = chain.FailedTimeout, true
	hops[2].Failure = chain.FailedNoResponder
	c.Outcome.Result.Action, c.Outcome.DeniedBy = chain.Deny, "hook2"
	c.Outcome.Skipped = []*chain.Entry{{Registration: chain.Registration{ID: "other-tools"}}}
	c.Injected = []verdict.Injected{{HookID: "hook0", Bytes: 12, Tokens: 3}}
	c.Dropped = []verdict.Injected{{HookID: "hook1", Dropped: verdict.Oversize}}
	shown.Metrics.Chain(t.Context(), c)
	shown.Metrics.Refused("emit", 429)
	shown.Metrics.Wrote(2)
	shown.Metrics.Wrote(5)
	shown.Metrics.Registry("expired", "hook3")
	shown.Metrics.Unawaited("hook3", chain.Deny, false)
	shown.Metrics.Unawaited("hook3", "", true)
	shown.Metrics.UnawaitedDropped("hook3")
	shown.Metrics.Decided(telemetry.ByRule, true)
	has(t, scrape(t, shown, false),
		`hookrouter_chains_total{action="deny",event="tool:pre",verb="emit"} 1`,
		`hookrouter_chain_duration_seconds_count{event="tool:pre",verb="emit"} 1`,
		`hookrouter_chain_duration_seconds_bucket{event="tool:pre",verb="emit",le="0.0025"} 0`,
		`hookrouter_chain_duration_seconds_bucket{event="tool:pre",verb="emit",le="0.005"} 1`,
		`hookrouter_hook_duration_seconds_count{hook="hook0"} 1`,
		`hookrouter_hook_results_total{action="inject_context",event="tool:pre",hook="hook0"} 1`,
		`hookrouter_hook_results_total{action="failed",event="tool:pre",hook="hook1"} 1`,
		`hookrouter_hook_failures_total{class="timeout",hook="hook1"} 1`,
		`hookrouter_hook_failures_total{class="no_responder",hook="hook2"} 1`,
		`hookrouter_hook_failed_open_total{class="timeout",hook="hook1"} 1`,
		`hookrouter_hook_skipped_total{hook="other-tools"} 1`,
		`hookrouter_injected_bytes_total{hook="hook0"} 12`,
		`hookrouter_injections_total{hook="hook0",outcome="delivered"} 1`,
		`hookrouter_injections_total{hook="hook1",outcome="oversize"} 1`,
		`hookrouter_audit_append_duration_seconds_count{mode="strict"} 1`,
		`hookrouter_agent_events_total{agent="/agent",event="tool:pre"} 1`,
		`hookrouter_refused_total{code="429",verb="emit"} 1`,
		`hookrouter_audit_batch_records_bucket{le="2"} 1`, `hookrouter_audit_batch_records_bucket{le="5"} 2`, "hookrouter_audit_batch_records_sum 7",
		`hookrouter_registry_changes_total{action="expired",hook="hook3"} 1`,
		`hookrouter_shadow_results_total{action="deny",hook="hook3"} 1`,
		`hookrouter_shadow_results_total{action="failed",hook="hook3"} 1`,
		`hookrouter_shadow_dropped_total{hook="hook3"} 1`,
		`hookrouter_approvals_decided_total{kind="rule",outcome="granted"} 1`,
	)
	if text := scrape(t, shown, false); strings.Contains(text, `hookrouter_hook_failed_open_total{class="no_responder"`) {
		t.Error("a failure that denied counts as let pass")
	}
}

func TestARefusedEventCountsAsNoDecision(t *testing.T) {
	shown := start(t, telemetry.Options{})
	c := three()
	c.Refused = 504
	shown.Metrics.Chain(t.Context(), c)
	text := scrape(t, shown, false)
	has(t, text, `hookrouter_hook_duration_seconds_count{hook="hook0"} 1`)
	if strings.Contains(text, "hookrouter_chains_total{") {
		t.Error("an event that was refused is counted as decided")
	}
}

// Whatever agents and hooks call themselves, the number of series has a bound.
func TestLabelSetsAreBounded(t *testing.T) {
	shown := start(t, telemetry.Options{})
	c := three()
	for i := range 10_000 {
		c.Session, c.ChainID, c.EventID = fmt.Sprintf("session-%d", i), events.NewID(), fmt.Sprint(i)
		c.Event = fmt.Sprintf("custom:event%d", i%1500)
		c.Source = fmt.Sprintf("/agent%d/instance", i)
		for j := range c.Outcome.Calls {
			c.Outcome.Calls[j].Entry = &chain.Entry{Registration: chain.Registration{ID: fmt.Sprintf("h-%d", (3*i+j)%1500)}}
		}
		shown.Metrics.Chain(t.Context(), c)
		shown.Metrics.Refused(fmt.Sprint("verb", i), i)
		shown.Metrics.Unawaited(fmt.Sprintf("h-%d", i), chain.Deny, false)
		shown.Metrics.Registry("registered", fmt.Sprintf("h-%d", i))
	}
	text := scrape(t, shown, false)
	series := map[string]int{}
	for line := range strings.Lines(text) {
		if name, _, labeled := strings.Cut(line, "{"); labeled && strings.HasPrefix(line, "hookrouter_") {
			series[name]++
		}
	}
	for name, most := range map[string]int{
		"hookrouter_chains_total": 303, "hookrouter_chain_duration_seconds_count": 303, "hookrouter_hook_duration_seconds_count": 1001,
		"hookrouter_hook_results_total": 2001, "hookrouter_agent_events_total": 2001, "hookrouter_refused_total": 201,
		"hookrouter_shadow_results_total": 1001, "hookrouter_registry_changes_total": 1001,
	} {
		if n := series[name]; n == 0 || n > most {
			t.Errorf("%s has %d series, want 1 to %d", name, n, most)
		}
	}
	if strings.Contains(text, "session-") || strings.Contains(text, c.ChainID) || strings.Contains(text, "instance") {
		t.Error("a label holds a session, a chain or an instance of an agent")
	}
	for _, want := range []string{`event="tool:pre"`, `hook="other"`, `event="other"`, `agent="other"`} {
		if want == `event="tool:pre"` {
			shown.Metrics.Chain(t.Context(), three()) // a standard name has its place, however late it comes
			text = scrape(t, shown, false)
		}
		if !strings.Contains(text, want) {
			t.Errorf("nothing is labeled %s", want)
		}
	}
}

func TestAgentsAreCountedByClass(t *testing.T) {
	for source, class := range map[string]string{
		"/agent": "/agent", "/agent/7": "/agent", "claude-code/4711": "claude-code", "": "", "/": "/",
		"https://u:p@host:1/x/y": "https://host:1", "urn:codex:session:1": "urn:codex", "urn:codex": "urn:codex", strings.Repeat("x", 100) + "/1": strings.Repeat("x", 64) + "…",
	} {
		shown := start(t, telemetry.Options{})
		c := three()
		c.Source = source
		shown.Metrics.Chain(t.Context(), c)
		has(t, scrape(t, shown, false), fmt.Sprintf(`hookrouter_agent_events_total{agent=%q,event="tool:pre"} 1`, class))
	}
}

func TestCountingAnEventAllocatesNothing(t *testing.T) {
	shown := start(t, telemetry.Options{})
	c := three()
	if n := testing.AllocsPerRun(1000, func() {
		shown.Metrics.Chain(context.Background(), c)
		shown.Metrics.Wrote(3)
		shown.Metrics.Refused("emit", 429)
		shown.Metrics.Registry("expired", "hook0")
	}); n != 0 {
		t.Errorf("counting an event takes %v allocations in the steady state", n)
	}
	shown = nil
	var none telemetry.Telemetry
	if n := testing.AllocsPerRun(1000, func() {
		none.Metrics.Chain(context.Background(), c)
		none.Metrics.Wrote(3)
		none.Metrics.Refused("emit", 429)
		none.Metrics.Registry("expired", "hook0")
		tr := none.Tracer.Begin(telemetry.Sender{Session: "s1", ChainID: c.ChainID})
		none.Tracer.Chain(tr, c)
		_ = tr.Context()
	}); n != 0 {
		t.Errorf("telemetry that is off takes %v allocations", n)
	}
}

func TestScrapesBesideEachOtherDoNotDisturbCounting(t *testing.T) {
	shown := start(t, telemetry.Options{})
	stop, err := shown.Watch(func() telemetry.State { return telemetry.State{Ready: true, AuditMode: "strict"} })
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 50 {
				w := httptest.NewRecorder()
				shown.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody))
				if w.Code != http.StatusOK {
					t.Errorf("/metrics answers %d", w.Code)
				}
			}
		})
		wg.Go(func() {
			for range 2000 {
				shown.Metrics.Chain(t.Context(), three())
			}
		})
	}
	wg.Wait()
	has(t, scrape(t, shown, false), `hookrouter_chains_total{action="continue",event="tool:pre",verb="emit"} 8000`, "hookrouter_ready 1")
}

func TestGaugesShowTheStateOfTheRouter(t *testing.T) {
	shown := start(t, telemetry.Options{})
	stop, err := shown.Watch(func() telemetry.State {
		return telemetry.State{
			InFlight: 3, MaxFlight: 1024, Hooks: 5, Expired: 2, AuditMode: "async", AuditWaiting: 4, AuditLag: 1500 * time.Millisecond, AuditAlarm: true, Approvals: 6, OldestApproval: 90 * time.Second,
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	c := three()
	shown.Metrics.Chain(t.Context(), c)
	c.Source, c.Event = "/never", events.ToolPost
	shown.Metrics.Chain(t.Context(), c)
	has(t, scrape(t, shown, false),
		"hookrouter_ready 0", "hookrouter_in_flight 3", "hookrouter_in_flight_limit 1024", "hookrouter_registry_hooks 5",
		"hookrouter_registry_expired_total 2", `hookrouter_audit_mode{mode="async"} 1`, "hookrouter_audit_waiting 4", "hookrouter_audit_lag_seconds 1.5", "hookrouter_audit_alarm 1",
		"hookrouter_approvals_pending 6", "hookrouter_approvals_oldest_age_seconds 90",
		"hookrouter_agents_seen 2", "hookrouter_agents_ungated 1",
	)
}

func TestASampledTraceIsAnExemplar(t *testing.T) {
	shown := start(t, telemetry.Options{Spans: &spans{}})
	c := three()
	tr := shown.Tracer.Begin(telemetry.Sender{Traceparent: parent, ChainID: c.ChainID})
	shown.Metrics.Chain(tr.Context(), c)
	text := scrape(t, shown, true)
	for _, name := range []string{"chain", "hook"} {
		found := regexp.MustCompile(`hookrouter_` + name + `_duration_seconds_bucket\{[^}]*\} \d+ # \{[^}]*trace_id="0af7651916cd43dd8448eb211c80319c"`)
		if !found.MatchString(text) {
			t.Errorf("no bucket of the %s's duration names the trace", name)
		}
	}
}

func BenchmarkMetrics(b *testing.B) {
	shown := start(b, telemetry.Options{})
	c := three()
	b.ReportAllocs()
	for b.Loop() {
		shown.Metrics.Chain(context.Background(), c)
	}
}

func BenchmarkMetricsParallel(b *testing.B) {
	shown := start(b, telemetry.Options{})
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		c := three()
		for pb.Next() {
			shown.Metrics.Chain(context.Background(), c)
		}
	})
}
