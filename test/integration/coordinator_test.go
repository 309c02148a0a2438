package integration

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/dispatch"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

func executed(t *testing.T, nc *nats.Conn, name string, header nats.Header, body string) verdict.Verdict {
	t.Helper()
	m := request(t, testkit.Within(t, 20*time.Second), nc, "hooks.execute."+strings.ReplaceAll(name, ":", "."), header, body)
	v, err := verdict.Parse(m.Data)
	if err != nil {
		t.Fatalf("execute %s: %v: %s %v", name, err, m.Data, m.Header)
	}
	return v
}

// Two replicas spend one budget: what they deliver together never exceeds it.
func TestReplicasShareABudget(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	routertest.Start(t, s, router.Options{})
	routertest.Start(t, s, router.Options{})
	nc := natstest.Conn(t, s)
	ctx := testkit.Within(t, 30*time.Second)
	hook(t, ctx, nc, "talks", `{"events":["tool:post"]}`, says(`{"action":"inject_context","context_injection":"`+strings.Repeat("word", 1000)+`"}`))
	var mu sync.Mutex
	delivered, dropped, most := 0, 0, 0
	var wg sync.WaitGroup
	for range 30 {
		wg.Go(func() {
			v := executed(t, nc, "tool:post", nil, `{"session_id":"s1"}`)
			mu.Lock()
			defer mu.Unlock()
			delivered += len(v.Messages)
			dropped += len(v.Warnings)
			most = max(most, v.InjectedTokens)
		})
	}
	wg.Wait()
	if delivered != 10 || dropped != 20 || most != 10_000 {
		t.Errorf("delivered %d and dropped %d, the most that was used is %d: want 10, 20, 10000", delivered, dropped, most)
	}
	show := string(request(t, ctx, nc, "hooks.session.show", nil, `{"session_id":"s1"}`).Data)
	for _, want := range []string{`"injected_tokens":10000`, `"budget":10000`, `"hook":"talks","bytes":4000,"tokens":1000`} {
		if !strings.Contains(show, want) {
			t.Errorf("the session shows %s, not %s", show, want)
		}
	}
	request(t, ctx, nc, "hooks.session.turn", nil, `{"session_id":"s1"}`)
	if v := executed(t, nc, "tool:post", nil, `{"session_id":"s1"}`); len(v.Messages) != 1 || v.InjectedTokens != 1000 {
		t.Errorf("in the next turn %+v", v)
	}
}

// A turn begins at prompt:submit, and at execution:start unless the prompt has
// begun it; on emit and on execute; before the event's own chain.
func TestWhatBeginsATurn(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	routertest.Start(t, s, router.Options{})
	nc := natstest.Conn(t, s)
	ctx := testkit.Within(t, 30*time.Second)
	hook(t, ctx, nc, "talks", `{"events":["*"]}`, says(`{"action":"inject_context","context_injection":"`+strings.Repeat("word", 100)+`"}`))
	for n, step := range []struct {
		verb, event string
		used        int // after it
	}{
		{"execute", "tool:post", 100},
		{"execute", "tool:post", 200},
		{"execute", "prompt:submit", 100},
		{"execute", "execution:start", 200}, // the prompt began the turn
		{"execute", "execution:start", 100}, // nothing did
		{"emit", "prompt:submit", 0},
		{"execute", "tool:post", 100},
		{"emit", "execution:start", 0},
		{"execute", "tool:post", 200},
		{"emit", "execution:start", 0},
		{"execute", "tool:post", 100},
		{"execute", "session:end", 200}, // after its chain
		{"execute", "tool:post", 100},
	} {
		if step.verb == "emit" {
			request(t, ctx, nc, "hooks.emit."+strings.ReplaceAll(step.event, ":", "."), nil, `{"session_id":"s1"}`)
			continue
		}
		if v := executed(t, nc, step.event, nil, `{"session_id":"s1"}`); v.InjectedTokens != step.used {
			t.Errorf("step %d, %s: %d tokens are used, want %d", n, step.event, v.InjectedTokens, step.used)
		}
	}
}

// A session may lower its limits and not raise them.
func TestASessionLowersItsLimits(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	routertest.Start(t, s, router.Options{Dispatch: dispatch.Options{Injection: verdict.Limits{Size: 500, Budget: 150}}})
	nc := natstest.Conn(t, s)
	ctx := testkit.Within(t, 30*time.Second)
	hook(t, ctx, nc, "talks", `{"events":["tool:post"]}`, says(`{"action":"inject_context","context_injection":"`+strings.Repeat("word", 100)+`"}`))
	for session, want := range map[string]struct{ plan, warning string }{
		"plain":  {`{}`, ""},
		"larger": {`{"mount_plan":{"session":{"injection_size_limit":5000,"injection_budget_per_turn":5000}}}`, ""},
		"size":   {`{"mount_plan":{"session":{"injection_size_limit":399}}}`, "oversize"},
		"budget": {`{"mount_plan":{"session":{"injection_budget_per_turn":99}}}`, "budget"},
		"odd":    {`{"mount_plan":{"session":{"injection_budget_per_turn":"x"}}}`, ""},
	} {
		header := event("x")
		header["ce-type"], header["ce-subject"] = []string{"session:start"}, []string{session}
		executed(t, nc, "session:start", header, want.plan)
		v := executed(t, nc, "tool:post", nil, `{"session_id":"`+session+`"}`)
		got := ""
		if len(v.Warnings) > 0 {
			got = v.Warnings[0].Kind
		}
		if got != want.warning {
			t.Errorf("%s: warnings %+v, want %q", session, v.Warnings, want.warning)
		}
	}
}

// "Allow always" holds for the session, on every replica, for the hook and prompt,
// until it is revoked or the session ends.
func TestAllowAlways(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	routertest.Start(t, s, router.Options{})
	routertest.Start(t, s, router.Options{})
	nc := natstest.Conn(t, s)
	ctx := testkit.Within(t, 60*time.Second)
	hook(t, ctx, nc, "asks", `{"events":["tool:pre"]}`, says(asks))
	required := listen(t, nc, "hooks.event.approval.required")
	n := 0
	ask := func(session string) (v verdict.Verdict, asked bool) {
		n++
		header := event(fmt.Sprint("e", n), "Hook-Wait-Ms", "1")
		header["ce-subject"] = []string{session}
		v = executed(t, nc, "tool:pre", header, `{"a":1}`)
		return v, v.Action == verdict.Pending
	}
	always := func(session string) {
		t.Helper()
		if _, asked := ask(session); !asked {
			t.Fatalf("nobody was asked in session %s", session)
		}
		q := openQuestion(t, ctx, required)
		request(t, ctx, nc, "hooks.approve."+q.ID, nil, `{"option":"Allow always","by":"ann"}`)
	}
	always("s1")
	for range 6 { // whichever replica
		if v, asked := ask("s1"); asked || code(request(t, ctx, nc, "hooks.approval."+v.Approval.ID, nil, "")) != "" || v.Action != verdict.Continue || !v.Approval.Cached || v.Approval.Option != "Allow always" || v.Data == nil {
			t.Fatalf("asked again, or not allowed: %+v %+v", v, v.Approval)
		}
	}
	always("s2")
	if got := string(request(t, ctx, nc, "hooks.session.revoke", nil, `{"session_id":"s1","hook":"asks"}`).Data); got != `{"revoked":1}` {
		t.Errorf("revoked %s", got)
	}
	always("s1")
	request(t, ctx, nc, "hooks.session.end", nil, `{"session_id":"s1"}`)
	if _, asked := ask("s1"); !asked {
		t.Error("it outlived its session")
	}
	openQuestion(t, ctx, required)
	if _, asked := ask("s2"); asked {
		t.Error("it ended with another session")
	}
	// Without a session it counts as "Allow once".
	bare := event("b1", "Hook-Wait-Ms", "1")
	delete(bare, "ce-subject")
	executed(t, nc, "tool:pre", bare, `{}`)
	q := openQuestion(t, ctx, required)
	request(t, ctx, nc, "hooks.approve."+q.ID, nil, `{"option":"Allow always"}`)
	bare["ce-id"] = []string{"b2"}
	if v := executed(t, nc, "tool:pre", bare, `{}`); v.Action != verdict.Pending {
		t.Errorf("without a session it was remembered: %+v", v)
	}
}

// A revoked approval is not remembered again by an agent that asks late for what
// was decided, nor one that was asked for before the session's last end.
func TestALateLookDoesNotRememberAgain(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	routertest.Start(t, s, router.Options{})
	nc := natstest.Conn(t, s)
	ctx := testkit.Within(t, 30*time.Second)
	hook(t, ctx, nc, "asks", `{"events":["tool:pre"]}`, says(asks))
	required := listen(t, nc, "hooks.event.approval.required")
	executed(t, nc, "tool:pre", event("e1", "Hook-Wait-Ms", "1"), `{}`)
	q := openQuestion(t, ctx, required)
	request(t, ctx, nc, "hooks.approve."+q.ID, nil, `{"option":"Allow always"}`)
	request(t, ctx, nc, "hooks.session.revoke", nil, `{"session_id":"s1"}`)
	if m := request(t, ctx, nc, "hooks.execute.tool.pre", event("e1", "Hook-Retry", "1"), `{}`); code(m) != "410" {
		t.Errorf("the revoked answer holds: %v %s", m.Header, m.Data)
	}
	if v := executed(t, nc, "tool:pre", event("e2", "Hook-Wait-Ms", "1"), `{}`); v.Action != verdict.Pending {
		t.Errorf("a revoked approval is remembered: %+v", v)
	}
	q = openQuestion(t, ctx, required)
	<-time.After(2 * time.Millisecond) // times are in milliseconds
	request(t, ctx, nc, "hooks.session.end", nil, `{"session_id":"s1"}`)
	request(t, ctx, nc, "hooks.approve."+q.ID, nil, `{"option":"Allow always"}`)
	if v := executed(t, nc, "tool:pre", event("e3", "Hook-Wait-Ms", "1"), `{}`); v.Action != verdict.Pending {
		t.Errorf("an approval of the session's earlier life is remembered: %+v", v)
	}
}

// Rules answer before a person is asked; without approvals every approval request denies.
func TestWhoNeedsNoPerson(t *testing.T) {
	t.Parallel()
	rules, err := approval.ParseRules("rules", []byte("rules:\n- {decision: allow, hook: asks, tool: Read, name: reading}\n- {decision: deny, tool: Rm}\n"))
	if err != nil {
		t.Fatal(err)
	}
	s := natstest.Server(t)
	_, stop := routertest.Start(t, s, router.Options{Dispatch: dispatch.Options{Rules: rules}})
	nc := natstest.Conn(t, s)
	ctx := testkit.Within(t, 30*time.Second)
	hook(t, ctx, nc, "asks", `{"events":["tool:pre"],"durable":true}`, says(asks))
	required := listen(t, nc, "hooks.event.approval.required")
	if v := executed(t, nc, "tool:pre", event("e1"), `{"tool_name":"Read"}`); v.Action != verdict.Continue || v.Approval.DecidedBy != "rule reading" || v.Data == nil {
		t.Errorf("allowed by a rule: %+v %+v", v, v.Approval)
	}
	if v := executed(t, nc, "tool:pre", event("e2"), `{"tool_name":"Rm"}`); v.Action != verdict.Deny || !strings.HasPrefix(v.Approval.DecidedBy, "rule ") {
		t.Errorf("denied by a rule: %+v %+v", v, v.Approval)
	}
	if v := executed(t, nc, "tool:pre", event("e3", "Hook-Wait-Ms", "1"), `{"tool_name":"Write"}`); v.Action != verdict.Pending {
		t.Errorf("no rule: %+v", v)
	}
	openQuestion(t, ctx, required)
	stop()
	routertest.Start(t, s, router.Options{Dispatch: dispatch.Options{NoApprovals: true}})
	if v := executed(t, nc, "tool:pre", event("e4"), `{}`); v.Action != verdict.Deny || v.Reason != "No approval system available" || v.Data != nil {
		t.Errorf("nobody to ask: %+v", v)
	}
	if m, err := required.NextMsg(10 * time.Millisecond); err == nil {
		t.Errorf("a person was asked: %s", m.Data)
	}
}

// Text from hooks is cleaned before it is measured and delivered; emit leaves it.
func TestInjectionsAreCleaned(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	routertest.Start(t, s, router.Options{})
	nc := natstest.Conn(t, s)
	ctx := testkit.Within(t, 30*time.Second)
	const injection = `{"action":"inject_context","context_injection":"a\u001b[31mb\u202ec\u200b\tन\u200dम"}`
	hook(t, ctx, nc, "talks", `{"events":["tool:post"]}`, says(injection))
	v := executed(t, nc, "tool:post", nil, `{}`)
	if v.Messages[0].Content != "abc\tन\u200dम" || len(v.Warnings) != 1 || v.Warnings[0].Kind != "sanitized" {
		t.Errorf("delivered %q with %+v", v.Messages[0].Content, v.Warnings)
	}
	if m := request(t, ctx, nc, "hooks.emit.tool.post", nil, `{}`); !strings.Contains(string(m.Data), "\u202e") {
		t.Errorf("emit says %s", m.Data)
	}
}
