package httpapi_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	cloudevents "github.com/cloudevents/sdk-go/v2"
	cehttp "github.com/cloudevents/sdk-go/v2/protocol/http"

	"github.com/hookrouter/hookrouter/internal/dispatch"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// What hooks decide is the answer, in the words that an agent over NATS gets.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	b := start(t, router.Options{})
	b.on("tool:pre", func() (worker.Result, error) { return worker.Deny("not today") })
	b.on("tool:post", func() (worker.Result, error) { return worker.Modify(map[string]any{"tool_name": "Read", "n": 1}) })
	b.on("prompt:submit", func() (worker.Result, error) { return worker.Inject("3 tests fail") })
	b.on("custom:gather", func() (worker.Result, error) { return worker.Result{Data: json.RawMessage(`{"v":1}`)}, nil })
	for name, test := range map[string]struct {
		path, want string
		header     string
	}{
		"allow":               {"/v1/execute/custom:nobody", `{"action":"continue","data":{"tool_name":"Bash"},"injected_tokens":0}`, "Hook-Event-Id"},
		"deny":                {"/v1/execute/tool:pre", `{"action":"deny","reason":"not today","injected_tokens":0}`, "Hook-Denied-By"},
		"deny, emitted":       {"/v1/emit/tool:pre", `{"action":"deny","reason":"not today"}`, "Hook-Denied-By"},
		"modify":              {"/v1/execute/tool:post", `{"action":"continue","data":{"n":1,"tool_name":"Read"},"injected_tokens":0}`, "Hook-Chain-Id"},
		"collect":             {"/v1/collect/custom:gather", `[{"v":1}]`, "Hook-From"},
		"an escaped name":     {"/v1/execute/tool%3Apre", `{"action":"deny","reason":"not today","injected_tokens":0}`, "Hook-Denied-By"},
		"an empty collection": {"/v1/collect/custom:nobody", `[]`, "Content-Type"},
		"no contributions":    {"/v1/contributions/observability.events", `[]`, "Content-Type"},
		"a turn":              {"/v1/session/turn", `{}`, "Content-Type"},
	} {
		body := `{"tool_name":"Bash"}`
		if strings.HasPrefix(test.path, "/v1/session") {
			body = `{"session_id":"s1"}`
		}
		got := b.post(test.path, body)
		if got.code != http.StatusOK || got.body != test.want || got.header.Get(test.header) == "" {
			t.Errorf("%s: %d %s %v; want %s", name, got.code, got.body, got.header, test.want)
		}
	}
	got := b.post("/v1/execute/prompt:submit", `{"prompt":"x","session_id":"s1"}`)
	if !strings.Contains(got.body, `"content":"3 tests fail"`) || !strings.HasSuffix(got.body, `"injected_tokens":3}`) {
		t.Errorf("inject: %+v", got)
	}
	if got := b.post("/v1/session/end", `{"session_id":"s1"}`); got.code != http.StatusOK {
		t.Errorf("end of the session: %+v", got)
	}
}

// The session of a plain event is what its data says, or else a header.
func TestSessions(t *testing.T) {
	t.Parallel()
	b := start(t, router.Options{})
	seen := make(chan string, 1)
	b.hook(worker.Registration{ID: "watch", Events: []string{"tool:pre"}}, func(_ context.Context, ev worker.Event) (worker.Result, error) {
		seen <- ev.Session
		return worker.Continue()
	})
	for _, test := range []struct{ body, header, want string }{
		{`{"session_id":"s1"}`, "", "s1"},
		{`{}`, "s%20ü", "s ü"},
		{`{"session_id":"s1"}`, "s1", "s1"},
	} {
		got := b.post("/v1/execute/tool:pre", test.body, "Hook-Session-Id", test.header)
		if session := testkit.Receive(t, "a call", seen); got.code != http.StatusOK || session != test.want {
			t.Errorf("%v: session %q, %+v", test, session, got)
		}
	}
	if got := b.post("/v1/execute/tool:pre", `{"session_id":"s1"}`, "Hook-Session-Id", "s2"); got.code != http.StatusBadRequest {
		t.Errorf("two sessions: %+v", got)
	}
}

// The client of the CloudEvents SDK is understood, in both modes.
func TestCloudEvents(t *testing.T) {
	t.Parallel()
	b := start(t, router.Options{})
	seen := make(chan worker.Event, 1)
	b.hook(worker.Registration{ID: "watch", Events: []string{"tool:pre"}}, func(_ context.Context, ev worker.Event) (worker.Result, error) {
		seen <- ev
		return worker.Continue()
	})
	for name, mode := range map[string]func(context.Context) context.Context{"binary": cloudevents.WithEncodingBinary, "structured": cloudevents.WithEncodingStructured} {
		ev := cloudevents.NewEvent()
		ev.SetID("e 1")
		ev.SetSource("/coder")
		ev.SetType("tool:pre")
		ev.SetSubject("sé")
		ev.SetExtension("team", "b%c")
		if err := ev.SetData(cloudevents.ApplicationJSON, map[string]any{"tool_name": "Bash"}); err != nil {
			t.Fatal(err)
		}
		p, err := cehttp.New(cehttp.WithTarget(b.url+"/v1/execute/tool:pre"), cehttp.WithHeader("Authorization", "Bearer "+b.token))
		if err != nil {
			t.Fatal(err)
		}
		c, err := cloudevents.NewClient(p)
		if err != nil {
			t.Fatal(err)
		}
		if result := c.Send(mode(t.Context()), ev); !cloudevents.IsACK(result) {
			t.Fatalf("%s: %v", name, result)
		}
		if got := testkit.Receive(t, "a call", seen); got.ID != "e 1" || got.Source != "/coder" || got.Session != "sé" || got.Extensions["team"] != "b%c" {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// One agent is one agent, whatever it speaks: its sessions are the same, and its slots.
func TestAnAgentIsTheSameOverNATS(t *testing.T) {
	t.Parallel()
	b := start(t, router.Options{})
	b.on("prompt:submit", func() (worker.Result, error) { return worker.Inject("12345678") })
	token := b.add("agent", zero) // the default identity of agents over NATS
	a, err := agent.New(b.client("agent"), agent.Options{Session: "s1"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Execute(t.Context(), "prompt:submit", map[string]any{}); err != nil {
		t.Fatal(err)
	}
	b.on("tool:post", func() (worker.Result, error) { return worker.Inject("1234") })
	got := b.post("/v1/execute/tool:post", `{"session_id":"s1"}`, "Authorization", "Bearer "+token)
	if !strings.HasSuffix(got.body, `"injected_tokens":3}`) {
		t.Errorf("the same agent: %s", got.body)
	}
	got = b.post("/v1/execute/tool:post", `{"session_id":"s1"}`)
	if !strings.HasSuffix(got.body, `"injected_tokens":1}`) {
		t.Errorf("another agent with the same session id: %s", got.body)
	}
}

// What is wrong with a request is said before any hook is called.
func TestRefusals(t *testing.T) {
	t.Parallel()
	b := start(t, router.Options{Dispatch: dispatch.Options{MaxData: 1000, UnknownEvents: dispatch.DenyUnknown}})
	b.hook(worker.Registration{ID: "watch", Events: []string{"*"}}, func(_ context.Context, ev worker.Event) (worker.Result, error) {
		t.Errorf("a hook was called: %s %s", ev.Name, ev.Data)
		return worker.Continue()
	})
	const tool = "/v1/execute/tool:pre"
	for name, test := range map[string]struct {
		path, body string
		headers    []string
		code       int
		says       string
	}{
		"a page of another site":      {tool, `{}`, []string{"Origin", "http://evil.example"}, 403, "page of a browser"},
		"a page of this site":         {tool, `{}`, []string{"Origin", b.url}, 403, "page of a browser"},
		"a navigation":                {tool, `{}`, []string{"Sec-Fetch-Site", "none"}, 403, "page of a browser"},
		"a foreign name":              {tool, `{}`, []string{"Host", "evil.example"}, 421, "--agent-http-hosts"},
		"a form":                      {tool, `{}`, []string{"Content-Type", "text/plain"}, 415, "application/json"},
		"no type":                     {tool, `{}`, []string{"Content-Type", ""}, 415, "application/json"},
		"a batch":                     {tool, `[]`, []string{"Content-Type", "application/cloudevents-batch+json"}, 415, "application/json"},
		"another charset":             {tool, `{}`, []string{"Content-Type", "application/json; charset=latin1"}, 415, "utf-8"},
		"a packed body":               {tool, `{}`, []string{"Content-Encoding", "gzip"}, 415, "content encoding"},
		"too much data":               {tool, `{"x":"` + strings.Repeat("x", 1000) + `"}`, nil, 413, "at most 1000"},
		"a body that is far too long": {tool, `{"x":"` + strings.Repeat("x", 1<<20) + `"}`, nil, 413, "bytes"},
		"half a document":             {tool, `{"x":`, nil, 400, "JSON"},
		"invalid UTF-8":               {tool, "{\"x\":\"\xff\"}", nil, 400, "UTF-8"},
		"a name twice":                {tool, `{"x":1,"x":2}`, nil, 400, "twice"},
		"a list":                      {tool, `[]`, nil, 400, "object"},
		"a dotted name":               {"/v1/execute/tool.pre", `{}`, nil, 400, "did you mean tool:pre"},
		"no name":                     {"/v1/execute/t%20p", `{}`, nil, 400, "event"},
		"another type":                {tool, `{}`, []string{"ce-id", "1", "ce-source", "/x", "ce-specversion", "1.0", "ce-type", "tool:post"}, 400, "tool:post"},
		"two modes":                   {tool, `{}`, []string{"ce-id", "1", "ce-source", "/x", "ce-specversion", "1.0", "ce-type", "tool:pre", "Content-Type", "application/cloudevents+json"}, 400, "one mode"},
		"a time-out of nothing":       {tool, `{}`, []string{"Hook-Timeout-Ms", "0"}, 400, "Hook-Timeout-Ms"},
		"a wait that is none":         {tool, `{}`, []string{"Hook-Wait-Ms", "-1"}, 400, "Hook-Wait-Ms"},
		"a session without an id":     {"/v1/session/turn", `{}`, nil, 400, "session_id"},
		"a member that is not known":  {"/v1/session/turn", `{"session_id":"s","sesion":1}`, nil, 400, "sesion"},
		"a channel that is none":      {"/v1/contributions/%C3%BC", ``, nil, 400, "channel"},
		"an endpoint of operators":    {"/v1/freeze", `{"all":true}`, nil, 404, "there is no POST"},
		"an endpoint of approvers":    {"/v1/approvals/x", `{"option":"Allow"}`, nil, 404, "there is no POST"},
	} {
		got := b.post(test.path, test.body, test.headers...)
		if got.code != test.code || !strings.Contains(got.body, test.says) || !strings.Contains(got.body, `"code":`) {
			t.Errorf("%s: %d %s; want %d and %q", name, got.code, got.body, test.code, test.says)
		}
	}
	r := b.request(http.MethodPost, tool, `{}`)
	r.Header["Hook-Wait-Ms"] = []string{"1", "2"}
	if got := b.do(r); got.code != http.StatusBadRequest || !strings.Contains(got.body, "2 times") {
		t.Errorf("a header twice: %+v", got)
	}
	if got := b.get(tool); got.code != http.StatusNotFound {
		t.Errorf("another method: %+v", got)
	}
}

// An event that nobody knows is refused where the router is told to, with the name that was
// meant.
func TestAMisspelledEvent(t *testing.T) {
	t.Parallel()
	b := start(t, router.Options{Dispatch: dispatch.Options{UnknownEvents: dispatch.DenyUnknown}})
	got := b.post("/v1/execute/Tool:Pre", `{}`)
	if got.code != http.StatusBadRequest || !strings.Contains(got.body, "did you mean tool:pre?") {
		t.Errorf("%+v", got)
	}
	if got := b.post("/v1/execute/tool:pre", `{}`, "Host", "hooks.example"); got.code != http.StatusOK {
		t.Errorf("by a name that was given: %+v", got)
	}
}
