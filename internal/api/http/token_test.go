package httpapi_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/api/agentapi"
	httpapi "github.com/hookrouter/hookrouter/internal/api/http"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

var zero time.Time

const tool = "/v1/execute/tool:pre"

func TestTokens(t *testing.T) {
	t.Parallel()
	b := start(t, router.Options{})
	expired := b.add("late", time.Now().Add(-time.Second))
	revoked := b.add("gone", zero)
	if got := b.post(tool, `{}`, "Authorization", "Bearer "+revoked); got.code != http.StatusOK {
		t.Fatalf("a token that was added while the router runs: %+v", got)
	}
	if _, err := b.authority.Revoke("gone"); err != nil {
		t.Fatal(err)
	}
	rotated := b.add("turned", zero)
	turned, err := b.authority.Rotate("turned", time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"none": "", "another scheme": "Basic " + b.token, "empty": "Bearer ", "wrong": "Bearer x", "most of it": "Bearer " + b.token[:40],
		"expired": "Bearer " + expired, "revoked": "Bearer " + revoked, "rotated": "Bearer " + rotated,
	} {
		if got := b.post(tool, `{}`, "Authorization", value); got.code != http.StatusUnauthorized || got.header.Get("WWW-Authenticate") != "Bearer" {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if got := b.post(tool, `{}`, "Authorization", "Bearer "+turned.Token()); got.code != http.StatusOK {
		t.Errorf("the new token: %+v", got)
	}
}

// A token that ends while hooks run permits nothing, as a NATS connection that ends.
func TestATokenEndsWhileHooksRun(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{tool: `"code":401`, "/v1/agents/claude-code": `"permissionDecision":"deny"`} {
		b := start(t, router.Options{})
		b.add("other", zero)
		entered, leave := make(chan struct{}), make(chan struct{})
		b.on("tool:pre", func() (worker.Result, error) {
			close(entered)
			<-leave
			return worker.Continue()
		})
		got := make(chan reply, 1)
		r := b.request(http.MethodPost, path, `{"hook_event_name":"PreToolUse","session_id":"s1","tool_name":"Bash","tool_input":{"command":"ls"}}`)
		go func() { got <- b.do(r) }()
		testkit.Closed(t, "the call of the hook", entered)
		if _, err := b.authority.Revoke("coder"); err != nil {
			t.Fatal(err)
		}
		close(leave)
		if got := testkit.Receive(t, "the answer", got); !strings.Contains(got.body, want) {
			t.Errorf("%s: %+v; want %s", path, got, want)
		}
	}
}

// Who tries tokens is slowed down, and shuts nobody out.
func TestWrongTokens(t *testing.T) {
	t.Parallel()
	b := start(t, router.Options{})
	var last reply
	for range 12 {
		last = b.post(tool, `{}`, "Authorization", "Bearer guess")
	}
	if last.code != http.StatusTooManyRequests || last.header.Get("Retry-After") == "" {
		t.Errorf("after many: %+v", last)
	}
	if got := b.post(tool, `{}`); got.code != http.StatusOK {
		t.Errorf("the right one: %+v", got)
	}
}

func TestAFloodOfWrongTokensIsNotLogged(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	s := httpapi.New(httpapi.Options{Agents: agentapi.New(agentapi.Options{}), Identities: known(t).identities(), Log: slog.New(slog.NewTextHandler(&log, nil))}).Handler()
	for range 100 {
		r := httptest.NewRequest(http.MethodPost, "http://localhost"+tool, strings.NewReader("{}"))
		r.Header.Set("Authorization", "Bearer guess")
		s.ServeHTTP(httptest.NewRecorder(), r)
	}
	if n := strings.Count(log.String(), "\n"); n != 10 {
		t.Errorf("%d lines, want those of the ten that are counted", n)
	}
}

// The API is not there before there is a token, and not after the last one.
func TestTheAPIIsThereWhileThereIsAToken(t *testing.T) {
	t.Parallel()
	b := start(t, router.Options{})
	if _, err := b.authority.Revoke("coder"); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "the API is closed", func() bool { return b.server.AgentAddr() == "" })
	if resp, err := http.DefaultClient.Do(b.request(http.MethodPost, tool, `{}`)); err == nil {
		_ = resp.Body.Close()
		t.Error("something answers")
	}
	token := b.add("other", zero)
	testkit.Eventually(t, "the API is open again", func() bool { return b.server.AgentAddr() != "" })
	b.url = "http://" + b.server.AgentAddr()
	if got := b.post(tool, `{}`, "Authorization", "Bearer "+token); got.code != http.StatusOK || !strings.Contains(got.body, "continue") {
		t.Errorf("%+v", got)
	}
}
