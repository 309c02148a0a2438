package integration

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/dispatch"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// What a call to a hook carries, of the agent's event and of its own.
func TestHeadersOfACall(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	routertest.Start(t, s, router.Options{})
	nc := natstest.Conn(t, s)
	ctx := testkit.Within(t, 20*time.Second)
	calls := make(chan call, 4)
	hook(t, ctx, nc, "h", `{"events":["*"],"timeout_ms":900}`, recorded(calls, "h", ""))
	const trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	header := cloud("tool:pre", "s%C3%A9")
	header["CE-Time"] = []string{"2026-01-02T03:04:05.678Z"}
	header["ce-tenant"] = []string{"blue"}
	header["Traceparent"], header["tracestate"] = []string{trace}, []string{"a=b"}
	header["Hook-Defaults"], header["Hook-Unknown"] = []string{`{"cwd":"/w","n":1}`}, []string{"x"}
	m := request(t, ctx, nc, "hooks.emit.tool.pre", header, `{"n":9007199254740993,"f":1.0}`)
	c := take(t, ctx, calls)
	for name, want := range map[string]string{
		"ce-specversion": "1.0", "ce-id": "ev-1", "ce-source": "/agents/7", "ce-type": "tool:pre", "ce-subject": "s%C3%A9",
		"ce-time": "2026-01-02T03:04:05.678Z", "ce-tenant": "blue", "traceparent": trace, "tracestate": "a=b",
		"Hook-Mode": "enforce", "Hook-Chain-Id": m.Header.Get("Hook-Chain-Id"), "Hook-Unknown": "", "Hook-Defaults": "",
	} {
		if got := c.header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if left, err := strconv.Atoi(c.header.Get("Hook-Timeout-Ms")); err != nil || left < 1 || left > 900 {
		t.Errorf("Hook-Timeout-Ms is %q", c.header.Get("Hook-Timeout-Ms"))
	}
	// The data's members keep their bytes; the defaults lie below, the time is the router's.
	if !regexp.MustCompile(`^\{"cwd":"/w","n":9007199254740993,"f":1\.0,"timestamp":"[0-9T:.-]+Z"\}$`).MatchString(c.data) {
		t.Errorf("the hook got %s", c.data)
	}
	if id := m.Header.Get("Hook-Event-Id"); id != "ev-1" {
		t.Errorf("the answer names event %q", id)
	}
	if res := decode[chain.Result](t, m.Data); string(res.Data) != c.data {
		t.Errorf("the answer has %s", res.Data)
	}
	// A plain object is a CloudEvent by the time it is called.
	request(t, ctx, nc, "hooks.emit.tool.post", nil, `{"session_id":"s2","timestamp":"mine"}`)
	c = take(t, ctx, calls)
	if h := c.header; h.Get("ce-id") == "" || h.Get("ce-source") == "" || h.Get("ce-type") != "tool:post" || h.Get("ce-subject") != "s2" || h.Get("ce-time") == "" {
		t.Errorf("the headers are %v", h)
	}
	if strings.Contains(c.data, "mine") {
		t.Errorf("the sender's time stamp came through: %s", c.data)
	}
}

func TestDefaultFieldsAreForHooksOnly(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	routertest.Start(t, s, router.Options{})
	nc := natstest.Conn(t, s)
	ctx := testkit.Within(t, 20*time.Second)
	defaults := nats.Header{"Hook-Defaults": {`{"who":"default"}`}}
	if m := request(t, ctx, nc, "hooks.emit.e", defaults, `{"a":1}`); string(decode[chain.Result](t, m.Data).Data) != `{"a":1}` {
		t.Errorf("without a hook: %s", m.Data)
	}
	calls := make(chan call, 4)
	hook(t, ctx, nc, "h", `{"events":["e"],"match":"data.who == 'default'"}`, recorded(calls, "h", ""))
	request(t, ctx, nc, "hooks.emit.e", defaults, `{"a":1}`)
	if c := take(t, ctx, calls); !strings.HasPrefix(c.data, `{"who":"default","a":1,`) {
		t.Errorf("the hook got %s", c.data)
	}
	request(t, ctx, nc, "hooks.emit.e", defaults, `{"who":"own"}`)
	if m := request(t, ctx, nc, "hooks.collect.e", defaults, `{"a":1}`); m.Header.Get("Hook-Missing") != "h" || len(calls) > 0 { // its match fails: no such member
		t.Errorf("collect used the default fields: %v", m.Header)
	}
}

// What observers of the bus read of an event and of its result.
func TestWatching(t *testing.T) {
	t.Parallel()
	const data = `{"session_id":"s1","token":"ghp_0123456789abcdefghijABCDEFGHIJ012345","n":9007199254740993}`
	for _, tt := range []struct {
		name    string
		publish dispatch.PublishData
		want    func(string) bool
	}{
		{"all of the data, as sent", dispatch.PublishFull, func(got string) bool { return got == data }},
		{"the data without its secrets", dispatch.PublishRedacted, func(got string) bool {
			return strings.HasPrefix(got, `{"session_id":"s1","token":"`) && strings.HasSuffix(got, `,"n":9007199254740993}`) && !strings.Contains(got, "ghp_0123")
		}},
		{"none of the data", dispatch.PublishNone, func(got string) bool { return got == `{}` }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := natstest.Server(t)
			routertest.Start(t, s, router.Options{Dispatch: dispatch.Options{PublishData: tt.publish}})
			nc := natstest.Conn(t, s)
			ctx := testkit.Within(t, 20*time.Second)
			hook(t, ctx, nc, "a", `{"events":["tool:pre"]}`, says(`{"action":"modify","data":{"secret":1}}`))
			hook(t, ctx, nc, "b", `{"events":["tool:pre"]}`, says(`garbage`))
			hook(t, ctx, nc, "c", `{"events":["tool:pre"],"on_failure":"deny"}`, says(`{"action":"deny","reason":"no"}`))
			before, after := listen(t, nc, "hooks.event.>"), listen(t, nc, "hooks.result.>")

			m := request(t, ctx, nc, "hooks.emit.tool.pre", nats.Header{"Hook-Defaults": {`{"d":1}`}}, data)
			ev, res := next(t, ctx, before), next(t, ctx, after)
			if ev.Subject != "hooks.event.tool.pre" || ev.Header.Get("ce-type") != "tool:pre" || ev.Header.Get("ce-subject") != "s1" || ev.Reply != "" ||
				ev.Header.Get("ce-id") != m.Header.Get("Hook-Event-Id") || !tt.want(string(ev.Data)) {
				t.Errorf("observers got %s %v %s", ev.Subject, ev.Header, ev.Data)
			}
			checkResult(t, m, res)
			request(t, ctx, nc, "hooks.collect.x.y", nil, data)
			if ev := next(t, ctx, before); ev.Subject != "hooks.event.x.y" || !tt.want(string(ev.Data)) {
				t.Errorf("of a collect observers got %s %s", ev.Subject, ev.Data)
			}
			request(t, ctx, nc, "hooks.emit.tool.pre", nil, `[]`)
			request(t, ctx, nc, "hooks.explain.tool.pre", nil, data)
			request(t, ctx, nc, "hooks.emit.last", nil, `{}`)
			if ev := next(t, ctx, before); ev.Subject != "hooks.event.last" {
				t.Errorf("observers got %s %s", ev.Subject, ev.Data)
			}
			if res := next(t, ctx, after); res.Subject != "hooks.result.last" {
				t.Errorf("observers got %s %s", res.Subject, res.Data)
			}
		})
	}
}

func checkResult(t *testing.T, m, res *nats.Msg) {
	t.Helper()
	rec := decode[struct {
		Chain  string `json:"chain_id"`
		Event  string `json:"event_id"`
		Sess   string `json:"session_id"`
		Action chain.Action
		Reason string
		Hooks  []struct {
			ID, Action, Failure string
			Open                bool         `json:"failed_open"`
			US                  *json.Number `json:"us"`
		}
	}](t, res.Data)
	if res.Subject != "hooks.result.tool.pre" || rec.Chain != m.Header.Get("Hook-Chain-Id") || rec.Event != m.Header.Get("Hook-Event-Id") ||
		rec.Sess != "s1" || rec.Action != chain.Deny || rec.Reason != "no" || len(rec.Hooks) != 3 || strings.Contains(string(res.Data), "secret") {
		t.Fatalf("the result is %s", res.Data)
	}
	a, b, c := rec.Hooks[0], rec.Hooks[1], rec.Hooks[2]
	if a.ID != "a" || a.Action != "modify" || a.Open || b.ID != "b" || b.Failure != "invalid_result" || !b.Open || c.ID != "c" || c.Action != "deny" || a.US == nil || b.US == nil || c.US == nil {
		t.Errorf("the hooks are %+v", rec.Hooks)
	}
}

func TestAPublishWithoutReplyRunsTheChainAndAnswersNobody(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	routertest.Start(t, s, router.Options{}, natsx.Options{Inbox: "_INBOX_router"}) // where its hooks and its store answer
	nc, all := natstest.Conn(t, s), natstest.Conn(t, s)
	ctx := testkit.Within(t, 20*time.Second)
	calls := make(chan call, 4)
	hook(t, ctx, nc, "h", `{"events":["e"]}`, recorded(calls, "h", `{"action":"deny"}`))
	inboxes, results := listen(t, all, "_INBOX.>"), listen(t, all, "hooks.result.>")
	if err := nc.Publish("hooks.emit.e", []byte(`{"a":1}`)); err != nil {
		t.Fatal(err)
	}
	c := take(t, ctx, calls)
	if !strings.HasPrefix(c.data, `{"a":1`) {
		t.Errorf("the hook got %s", c.data)
	}
	if rec := decode[struct{ Action string }](t, next(t, ctx, results).Data); rec.Action != "deny" {
		t.Errorf("the result is %v", rec)
	}
	// What the router answered before the result is here by now.
	if n, _, _ := inboxes.Pending(); n != 0 {
		t.Errorf("%d answers were sent", n)
	}
}
