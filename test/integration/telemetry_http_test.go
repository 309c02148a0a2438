package integration

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/hookrouter/hookrouter/internal/auditlog"
	"github.com/hookrouter/hookrouter/internal/auditlog/recorder"
	"github.com/hookrouter/hookrouter/internal/dispatch"
	"github.com/hookrouter/hookrouter/internal/registry"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/server"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
)

// Every router serves its metrics, without being told to; what it refuses is counted
// by code.
func TestEveryNodeServesMetrics(t *testing.T) {
	t.Parallel()
	n := startNode(t, server.Options{Router: router.Options{Dispatch: dispatch.Options{ChainTimeout: time.Second}}})
	ctx := testkit.Within(t, 20*time.Second)
	nc := natstest.Conn(t, n.InProcess())
	hook(t, ctx, nc, "broken", `{"events":["tool:pre"]}`, says(`[`))
	hook(t, ctx, nc, "writer", `{"events":["tool:pre"],"match":"data.tool_name == 'Write'"}`, says(`{}`))
	hook(t, ctx, nc, "quiet", `{"events":["tool:post"],"timeout_ms":2000}`, func(*nats.Msg) []byte { return nil })
	request(t, ctx, nc, "hooks.emit.tool.pre", nil, `{"tool_name":"Bash"}`)
	if m := request(t, ctx, nc, "hooks.emit.tool.post", nil, `{}`); code(m) != "504" {
		t.Fatalf("a chain without time is answered %v", m.Header)
	}
	if m := request(t, ctx, nc, "hooks.emit.tool.pre", nil, `[]`); code(m) != "400" {
		t.Fatal(m.Header)
	}
	if m := request(t, ctx, nc, "hooks.approve.nothing", nil, `{"option":"Allow"}`); code(m) != "404" {
		t.Fatal(m.Header)
	}
	shows(t, ctx, n,
		`hookrouter_chains_total{action="continue",event="tool:pre",verb="emit"} 1`,
		`hookrouter_hook_failed_open_total{class="invalid_result",hook="broken"} 1`,
		`hookrouter_hook_skipped_total{hook="writer"} 1`,
		`hookrouter_refused_total{code="504",verb="emit"} 1`, `hookrouter_refused_total{code="400",verb="emit"} 1`,
		`hookrouter_refused_total{code="404",verb="approve"} 1`,
		`hookrouter_audit_append_duration_seconds_count{mode="strict"} 1`, `hookrouter_audit_mode{mode="strict"} 1`,
		"hookrouter_registry_hooks 3", "hookrouter_in_flight 0", "hookrouter_in_flight_limit 1024", "hookrouter_ready 1",
		"hookrouter_agents_seen 1", "hookrouter_agents_ungated 0",
	)
}

// What is refused for want of a place is counted, and the requests that have one.
func TestRequestsWithoutAPlaceAreCounted(t *testing.T) {
	t.Parallel()
	n := startNode(t, server.Options{Router: router.Options{MaxInFlight: 1}})
	ctx := testkit.Within(t, 20*time.Second)
	nc := natstest.Conn(t, n.InProcess())
	called, answer := make(chan struct{}), make(chan struct{})
	hook(t, ctx, nc, "slow", `{"events":["tool:pre"],"timeout_ms":20000}`, func(*nats.Msg) []byte {
		close(called)
		<-answer
		return []byte(`{}`)
	})
	inbox := listen(t, nc, nats.NewInbox())
	if err := nc.PublishRequest("hooks.emit.tool.pre", inbox.Subject, []byte(`{}`)); err != nil {
		t.Fatal(err)
	}
	take(t, ctx, called)
	for _, verb := range []string{"emit", "execute"} {
		if m := request(t, ctx, nc, "hooks."+verb+".tool.pre", nil, `{}`); code(m) != "429" {
			t.Fatal(m.Header)
		}
	}
	shows(t, ctx, n, "hookrouter_in_flight 1", `hookrouter_refused_total{code="429",verb="emit"} 1`, `hookrouter_refused_total{code="429",verb="execute"} 1`)
	close(answer)
	next(t, ctx, inbox)
	shows(t, ctx, n, "hookrouter_in_flight 0")
}

// Who comes and goes is counted by what the audit log says of it.
func TestChangesOfRegistrationsAreCounted(t *testing.T) {
	t.Parallel()
	n := startNode(t, server.Options{Router: router.Options{Registry: registry.Options{TTL: time.Second}}})
	ctx := testkit.Within(t, 20*time.Second)
	nc := natstest.Conn(t, n.InProcess())
	for _, ask := range []struct{ subject, body string }{
		{"hooks.register.calm", `{"events":["tool:pre"],"instance":"a"}`},
		{"hooks.register.calm", `{"events":["tool:pre"],"instance":"a"}`}, // renewed: no change
		{"hooks.register.calm", `{"events":["tool:pre"],"instance":"b"}`},
		{"hooks.register.calm", `{"events":["tool:post"],"instance":"b"}`},
		{"hooks.unregister.calm", `{"instance":"b"}`},
		{"hooks.unregister.calm", `{}`},
		{"hooks.register.gone", `{"events":["tool:pre"],"instance":"a"}`}, // never renewed
	} {
		if m := request(t, ctx, nc, ask.subject, nil, ask.body); code(m) != "" {
			t.Fatal(ask, m.Header)
		}
	}
	want := []string{`hookrouter_registry_changes_total{action="expired",hook="gone"} 1`, `hookrouter_registry_changes_total{action="registered",hook="gone"} 1`}
	for _, action := range []string{"registered", "instance", "changed", "instance_removed", "unregistered"} {
		want = append(want, `hookrouter_registry_changes_total{action="`+action+`",hook="calm"} 1`)
	}
	shows(t, ctx, n, want...)
}

// The size of what the audit log took is shown, and how long it takes nothing.
func TestTheAuditLogsLagIsShown(t *testing.T) {
	t.Parallel()
	n := startNode(t, server.Options{Router: router.Options{Audit: auditlog.Options{Recorder: recorder.Options{Mode: recorder.Async}}}})
	ctx := testkit.Within(t, 20*time.Second)
	nc := natstest.Conn(t, n.InProcess())
	request(t, ctx, nc, "hooks.emit.tool.pre", nil, `{}`)
	shows(t, ctx, n, "hookrouter_audit_batch_records_sum 1", "hookrouter_audit_lag_seconds 0")
	fill(t, ctx, nc)
	request(t, ctx, nc, "hooks.emit.tool.pre", nil, `{}`)
	lag := regexp.MustCompile(`(?m)^hookrouter_audit_lag_seconds (0\.[1-9]|[1-9])`)
	seldom(t, ctx, "the lag grows", func() bool {
		_, text := overHTTP(t, n, http.MethodGet, "/metrics", "", "")
		return lag.MatchString(text)
	})
	retune(t, ctx, nc, func(c *jetstream.StreamConfig) { c.MaxBytes = -1 })
	shows(t, ctx, n, "hookrouter_audit_batch_records_sum 2", "hookrouter_audit_lag_seconds 0")
}

// An alarm of the audit log is shown, though the router stays ready.
func TestAnAlarmOfTheAuditLogIsShown(t *testing.T) {
	t.Parallel()
	n := startNode(t, server.Options{Router: router.Options{Audit: auditlog.Options{Key: auditKey(t)}}})
	ctx := testkit.Within(t, 20*time.Second)
	nc := natstest.Conn(t, n.InProcess())
	shows(t, ctx, n, "hookrouter_audit_alarm 0")
	if err := nc.Publish("hooks.audit.w.evil", []byte("hello")); err != nil {
		t.Fatal(err)
	}
	shows(t, ctx, n, "hookrouter_audit_alarm 1", "hookrouter_ready 1")
}

// shows waits until a node's /metrics has lines.
func shows(t *testing.T, ctx context.Context, n *server.Server, want ...string) {
	t.Helper()
	var missing []string
	defer func() {
		if t.Failed() {
			t.Log("missing: ", missing)
		}
	}()
	seldom(t, ctx, "the metrics are there", func() bool {
		status, text := overHTTP(t, n, http.MethodGet, "/metrics", "", "")
		lines := strings.Split(text, "\n")
		missing = slices.DeleteFunc(slices.Clone(want), func(line string) bool { return slices.Contains(lines, line) })
		return status == http.StatusOK && len(missing) == 0
	})
}

// The level of the log is changed by people of the console, and by no other page.
func TestTheLevelOfTheLogIsChangedOverHTTP(t *testing.T) {
	t.Parallel()
	level := &slog.LevelVar{}
	n := startNode(t, server.Options{Level: level, ConsoleToken: strings.Repeat("t", 22)})
	for _, tt := range []struct {
		name, method, body, host, origin string
		status                           int
		answer                           string
	}{
		{"it is shown", http.MethodGet, "", "", "", 200, "info\n"},
		{"a word that is no level", http.MethodPut, "loud", "", "", 400, "must be debug"},
		{"a body without end", http.MethodPut, strings.Repeat("x", 1000), "", "", 400, "must be debug"},
		{"it is changed", http.MethodPut, "debug\n", "", "", 200, "debug\n"},
		{"it is shown anew", http.MethodGet, "", "localhost:1", "", 200, "debug\n"},
		{"a page of another origin", http.MethodPut, "error", "", "https://evil.example", 403, "from another page"},
		{"a foreign name that leads here", http.MethodPut, "error", "evil.example", "", 421, "--console-hosts"},
		{"another method", http.MethodPost, "error", "", "", 405, "PUT changes it"},
	} {
		req, err := http.NewRequestWithContext(testkit.Within(t, 20*time.Second), tt.method, "http://"+n.HTTPAddr()+"/loglevel", strings.NewReader(tt.body))
		if err != nil {
			t.Fatal(err)
		}
		if tt.host != "" {
			req.Host = tt.host
		}
		if tt.origin != "" {
			req.Header.Set("Origin", tt.origin)
		}
		req.Header.Set("Authorization", "Bearer "+n.ConsoleToken())
		status, text := send(t, req)
		if status != tt.status || !strings.Contains(text, tt.answer) {
			t.Errorf("%s: %d %q, want %d %q", tt.name, status, text, tt.status, tt.answer)
		}
	}
	if status, _ := overHTTP(t, n, http.MethodPut, "/loglevel", "", "error"); status != http.StatusUnauthorized {
		t.Errorf("without a token: %d", status)
	}
	if level.Level() != slog.LevelDebug {
		t.Errorf("the level is %v", level.Level())
	}
}

// send sends a request on a connection of its own.
func send(t *testing.T, req *http.Request) (status int, body string) {
	t.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}
