package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

const remembering = `
hooks:
  - id: limits
    builtin:
      limits:
        rules: [{per: [session], calls: 10}]
  - {id: todos, builtin: todo-display}
  - {id: names, mode: enforce, builtin: session-naming}
`

// kept is how many messages the bucket of what hooks remember holds; -1 where there is
// none.
func kept(t *testing.T, url string) int {
	t.Helper()
	nc, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := js.Stream(t.Context(), "KV_hooks_hookstate")
	if err != nil {
		return -1
	}
	return int(stream.CachedInfo().State.Msgs)
}

func TestReplicasRememberTogether(t *testing.T) {
	t.Parallel()
	url := listen(t)
	for range 2 {
		stderr, _ := start(t, url, write(t, remembering))
		for _, line := range []string{
			`"hook":"limits","kind":"builtin","events":"prompt:submit,tool:pre,llm:request,llm:response,session:end","priority":-10,"on_failure":"deny","mode":"enforce"}`,
			`"hook":"todos-channels","kind":"builtin","channels":"session.todos"}`,
		} {
			if !strings.Contains(stderr.String(), line) {
				t.Errorf("stderr does not have %q:\n%s", line, stderr)
			}
		}
	}
	if n := kept(t, url); n >= 0 {
		t.Errorf("there is a bucket, with %d messages, before a hook was called", n)
	}
	a := connect(t, url)
	emit := func(event, data string) chain.Result {
		t.Helper()
		got, err := a.Emit(t.Context(), event, json.RawMessage(data))
		if err != nil {
			t.Fatal(err)
		}
		return got.Result
	}
	denied := 0
	for i := range 20 {
		if got := emit("tool:pre", fmt.Sprintf(`{"tool_name":"Bash","tool_input":{"command":"echo %d"}}`, i)); got.Denied() {
			denied++
			if !strings.HasPrefix(got.Reason, "The limit of 10 calls in all, for each session is reached") {
				t.Fatalf("denied: %s", got.Reason)
			}
		}
	}
	if denied != 10 {
		t.Errorf("%d of 20 calls are denied; want 10", denied)
	}
	emit("prompt:submit", `{"prompt":"Fix the login"}`)
	emit("tool:post", `{"tool_name":"TodoWrite","tool_input":{"todos":[{"content":"Test it","status":"pending"}]}}`)
	for channel, want := range map[string]string{
		"session.todos":    `[{"session_id":"s1","todos":[{"text":"Test it","status":"pending"}]}]`,
		"session.metadata": `[{"description":"Fix the login","name":"Fix the login","session_id":"s1"}]`,
	} {
		got, err := a.CollectContributions(t.Context(), channel, 5*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		if text := fmt.Sprintf("%s", got.Values); text != "["+want+"]" {
			t.Errorf("%s: %s\nwant one: %s", channel, text, want)
		}
	}
	emit("session:end", `{}`)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(20 * time.Second); kept(t, url) != 0; <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("%d messages are left of a session that ended", kept(t, url))
		}
	}
	if got := emit("tool:pre", `{"tool_name":"Bash","tool_input":{"command":"ls"}}`); got.Denied() {
		t.Errorf("the next session of this name is stopped: %s", got.Reason)
	}
}

func TestAGuardWhoseMemoryIsAwayDenies(t *testing.T) {
	t.Parallel()
	url := listen(t)
	elsewhere := natstest.Listening(t)
	start(t, url, write(t, "hooks:\n  - {id: limits, builtin: limits, timeout_ms: 20000}\n  - {id: progress, builtin: progress-monitor}\n"), "--state-nats-url", elsewhere.ClientURL())
	a := connect(t, url)
	emit := func(event string) chain.Result {
		t.Helper()
		got, err := a.Emit(t.Context(), event, json.RawMessage(`{"tool_name":"Read","tool_input":{"file_path":"/p/a"}}`))
		if err != nil {
			t.Fatal(err)
		}
		return got.Result
	}
	if got := emit("tool:pre"); got.Denied() {
		t.Fatalf("denied: %s", got.Reason)
	}
	if kept(t, url) != -1 || kept(t, elsewhere.ClientURL()) != 1 {
		t.Errorf("%d messages are where the hooks are, %d where they shall be", kept(t, url), kept(t, elsewhere.ClientURL()))
	}
	elsewhere.Stop()
	began := time.Now()
	if got := emit("tool:pre"); !got.Denied() || time.Since(began) > 4*time.Second {
		t.Errorf("%+v after %v; want a denial", got, time.Since(began))
	}
	if got := emit("tool:post"); got.Denied() {
		t.Errorf("a hook that informs denies: %s", got.Reason)
	}
}
