package httpapi_test

import (
	"context"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/agenthook"
	"github.com/hookrouter/hookrouter/internal/dispatch"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// sample is what an agent sends its hook.
func sample(t *testing.T, dialect, native string) string {
	t.Helper()
	text, err := os.ReadFile("../../agenthook/testdata/" + dialect + "/" + native + ".json")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

const claude = "/v1/agents/claude-code"

// An agent with HTTP hooks is answered in its own words.
func TestClaudeCode(t *testing.T) {
	t.Parallel()
	b := start(t, router.Options{})
	pre := sample(t, "claude-code", "PreToolUse")
	if got := b.post(claude, pre); got.code != http.StatusOK || got.body != "{}" {
		t.Errorf("nobody objects: %+v", got)
	}
	answer := make(chan func() (worker.Result, error), 1)
	b.on("tool:pre", func() (worker.Result, error) { return (<-answer)() })
	answer <- func() (worker.Result, error) { return worker.Deny("not today") }
	want := `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"not today"}}`
	if got := b.post(claude, pre); got.code != http.StatusOK || got.body != want {
		t.Errorf("denied: %+v", got)
	}
	answer <- func() (worker.Result, error) { return worker.Inject("3 tests fail") }
	want = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","additionalContext":"3 tests fail"}}`
	if got := b.post(claude, pre); got.code != http.StatusOK || got.body != want {
		t.Errorf("context: %+v", got)
	}
	answer <- func() (worker.Result, error) { return worker.Ask("Sure?") }
	done := make(chan reply)
	go func() { done <- b.post(claude, pre) }()
	b.approve(b.asked(), "Deny")
	if got := testkit.Receive(t, "an answer", done); got.code != http.StatusOK || !strings.Contains(got.body, `"permissionDecision":"deny"`) || !strings.Contains(got.body, "User denied: Sure?") {
		t.Errorf("a person denied: %+v", got)
	}
}

// The agent's hook says whose settings it is in. Else the sub-agents of Codex are denied.
func TestSubAgentsOfCodex(t *testing.T) {
	t.Parallel()
	b := start(t, router.Options{})
	for query, denied := range map[string]bool{"": true, "&scope=user": true, "&scope=managed": false} {
		got := b.post("/v1/agents/codex?event=PreToolUse"+query, `{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"spawn_agent","tool_input":{}}`)
		if got.code != http.StatusOK || strings.Contains(got.body, `"permissionDecision":"deny"`) != denied {
			t.Errorf("%q: %+v", query, got)
		}
	}
}

// A person who takes longer than the agent waits has not permitted anything.
func TestAPersonIsTooLateForAnAgent(t *testing.T) {
	t.Parallel()
	b := start(t, router.Options{})
	b.asks()
	got := b.post(claude, sample(t, "claude-code", "PreToolUse"), "Hook-Timeout-Ms", "500")
	if got.code != http.StatusOK || !strings.Contains(got.body, `"permissionDecision":"deny"`) || !strings.Contains(got.body, "hookctl approvals answer") {
		t.Errorf("%+v", got)
	}
}

// Whatever is wrong, an agent that would go on is told to block, with a status that it reads.
func TestAgentsFailClosed(t *testing.T) {
	t.Parallel()
	b := start(t, router.Options{MaxInFlight: 1, Dispatch: dispatch.Options{MaxData: 10_000}})
	pre := sample(t, "claude-code", "PreToolUse")
	called, release := make(chan struct{}), make(chan struct{})
	b.hook(worker.Registration{ID: "slow", Events: []string{"tool:post"}}, func(context.Context, worker.Event) (worker.Result, error) {
		close(called)
		<-release
		return worker.Continue()
	})
	done := make(chan reply, 1)
	go func() { done <- b.post("/v1/execute/tool:post", `{}`) }()
	testkit.Closed(t, "a call", called)
	defer func() {
		close(release)
		testkit.Receive(t, "the answer to the first", done)
	}()
	for name, test := range map[string]struct {
		path, body string
		headers    []string
		says       string
	}{
		"no token":                 {claude, pre, []string{"Authorization", ""}, "no access"},
		"a wrong token":            {claude, pre, []string{"Authorization", "Bearer x"}, "the token is wrong"},
		"a wrong token, no event":  {claude, `{}`, []string{"Authorization", "Bearer x"}, "the token is wrong"},
		"a misspelt agent":         {"/v1/agents/claude", pre, nil, "there is no agent"},
		"no agent":                 {"/v1/agents/", pre, nil, "there is no agent"},
		"a page":                   {claude, pre, []string{"Origin", "http://evil.example"}, "browser"},
		"a foreign name":           {claude, pre, []string{"Host", "evil.example"}, "not served as"},
		"no JSON":                  {claude, pre, []string{"Content-Type", "text/plain"}, "content type"},
		"half a message":           {claude, pre[:len(pre)/2], nil, "can't be read"},
		"half a message, named":    {claude + "?event=PreToolUse", pre[:len(pre)/2], nil, "can't be read"},
		"nothing":                  {claude, "", nil, "nothing"},
		"invalid UTF-8":            {claude, strings.Replace(pre, "echo", "\xff", 1), nil, "UTF-8"},
		"far too much":             {claude, strings.Replace(pre, "echo", strings.Repeat("x", 1<<20), 1), nil, "bytes"},
		"a time-out that is none":  {claude, pre, []string{"Hook-Timeout-Ms", "soon"}, "Hook-Timeout-Ms"},
		"no time":                  {claude, pre, []string{"Hook-Timeout-Ms", "1"}, "no policy could be asked"},
		"too many requests":        {claude, pre, nil, "under way"},
		"copilot":                  {"/v1/agents/copilot?event=preToolUse", sample(t, "copilot", "preToolUse"), nil, "under way"},
		"copilot without an event": {"/v1/agents/copilot", `{}`, nil, "which event"},
	} {
		got := b.post(test.path, test.body, test.headers...)
		blocks := strings.Contains(got.body, `"permissionDecision":"deny"`) || strings.Contains(got.body, `"continue":false`)
		if got.code != http.StatusOK || !blocks || !strings.Contains(got.body, test.says) || got.header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %+v; want a block that says %q", name, got, test.says)
		}
	}
	if got := b.post(claude, `{"hook_event_name":"Notification","session_id":"s1","message":"done"}`); got.code != http.StatusOK || strings.Contains(got.body, "false") {
		t.Errorf("an event that is not gated: %+v", got)
	}
}

// Every agent is blocked in a form of its own where nobody knows the event.
func TestEveryDialectHasABlock(t *testing.T) {
	t.Parallel()
	for _, d := range agenthook.Dialects() {
		h := agenthook.Hook{Dialect: d}
		body := string(h.Body(h.Refuse([]byte(`{`), context.Canceled)))
		if !strings.Contains(body, "block") && !strings.Contains(body, `"deny":"`) || !strings.Contains(body, "no policy could be asked") {
			t.Errorf("%s: %s", d.Name, body)
		}
	}
}

// A hook that hangs is not waited for longer than the agent waits.
func TestAnAgentIsAnsweredInTime(t *testing.T) {
	t.Parallel()
	b := start(t, router.Options{})
	release := make(chan struct{})
	b.on("tool:pre", func() (worker.Result, error) { <-release; return worker.Continue() })
	defer close(release)
	got := b.post(claude, sample(t, "claude-code", "PreToolUse"), "Hook-Timeout-Ms", "500")
	if got.code != http.StatusOK || !strings.Contains(got.body, `"permissionDecision":"deny"`) || !strings.Contains(got.body, "ran out") {
		t.Errorf("%+v", got)
	}
}
