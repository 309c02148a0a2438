package httpapi_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/dispatch"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// An agent that opens very many requests takes nobody else's place. The test runs alone:
// the first request must not be over before the last is open, and each has ten seconds.
func TestOpenRequests(t *testing.T) {
	b := start(t, router.Options{})
	other := b.add("other", zero)
	const limit = 512
	for range limit {
		b.raw(b.head("2") + "{")
	}
	var got reply
	testkit.Eventually(t, "one too many is refused", func() bool {
		got = b.post(tool, `{}`)
		if got.code == http.StatusOK { // some were slow, or are over
			b.raw(b.head("2") + "{")
		}
		return got.code != http.StatusOK
	})
	if got.code != http.StatusTooManyRequests || got.header.Get("Retry-After") != "1" {
		t.Errorf("one too many: %+v", got)
	}
	if got := b.post(tool, `{}`, "Authorization", "Bearer "+other); got.code != http.StatusOK {
		t.Errorf("another agent: %+v", got)
	}
}

// An agent that ignores Retry-After makes no more work than one that honors it.
func TestRefusalsOfAFloodAreSlow(t *testing.T) {
	t.Parallel()
	b := start(t, router.Options{Dispatch: dispatch.Options{MaxPerAgent: 1}})
	called, release := make(chan struct{}, 1), make(chan struct{})
	b.on("tool:pre", func() (worker.Result, error) {
		called <- struct{}{}
		<-release
		return worker.Continue()
	})
	done := make(chan reply, 1)
	go func() { done <- b.post(tool, `{}`) }()
	testkit.Receive(t, "a call", called)
	for _, path := range []string{tool, "/v1/agents/claude-code"} {
		began := time.Now()
		got := b.post(path, `{"hook_event_name":"PreToolUse","session_id":"s2","tool_name":"Bash","tool_input":{"command":"ls"}}`)
		if took := time.Since(began); took < 900*time.Millisecond || strings.Contains(got.body, `"continue"`) {
			t.Errorf("%s: refused after %s: %+v", path, took, got)
		}
	}
	close(release)
	if got := testkit.Receive(t, "the answer", done); got.code != http.StatusOK {
		t.Errorf("the first: %+v", got)
	}
}

// An agent that sends many large bodies slowly takes little memory, and nobody else's place.
func TestBodiesThatAreRead(t *testing.T) {
	t.Parallel()
	b := start(t, router.Options{})
	other := b.add("other", zero)
	const most, size = 16 << 20, 512 << 10
	for range most / size {
		b.raw(b.head(strconv.Itoa(size)) + "{")
	}
	var got reply
	testkit.Eventually(t, "one too many is refused", func() bool {
		got = b.post(tool, `{"filler":"`+strings.Repeat("x", size/2)+`"}`)
		if got.code == http.StatusOK { // some were slow, were refused for this one, or are over
			b.raw(b.head(strconv.Itoa(size)) + "{")
		}
		return got.code != http.StatusOK
	})
	if got.code != http.StatusTooManyRequests || got.header.Get("Retry-After") != "1" {
		t.Errorf("one too many: %+v", got)
	}
	if got := b.post(tool, `{}`, "Authorization", "Bearer "+other); got.code != http.StatusOK {
		t.Errorf("another agent: %+v", got)
	}
}

// What an operator freezes is denied over HTTP too, an approval included that was given.
func TestFrozen(t *testing.T) {
	t.Parallel()
	b := start(t, router.Options{})
	b.asks()
	allowed := b.pending()
	b.approve(id(allowed), "Allow")
	open := b.pending()
	m, err := b.client("admin").Conn().Request("hooks.freeze", []byte(`{"agent":"coder","reason":"stop"}`), testkit.Patience)
	if err != nil || m.Header.Get("Nats-Service-Error") != "" {
		t.Fatalf("freeze: %v, %v", m, err)
	}
	const want = `"reason":"Frozen by an operator: stop"`
	for name, got := range map[string]reply{"an event": b.post("/v1/execute/tool:post", `{}`), "an approval": b.get(allowed), "an open request": b.get(open, "Hook-Wait-Ms", "0")} {
		if got.code != http.StatusOK || !strings.HasPrefix(got.body, `{"action":"deny"`) || !strings.Contains(got.body, want) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
