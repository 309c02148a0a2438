package attack

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"sync/atomic"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/auditlog/query"
	"github.com/hookrouter/hookrouter/internal/dispatch"
	"github.com/hookrouter/hookrouter/internal/identity"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/suggest"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/approver"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/verdict"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// swapped are rules that a test puts in force while the router runs.
type swapped struct {
	rules atomic.Pointer[approval.Rules]
}

func (s *swapped) now() approval.Rules {
	if rules := s.rules.Load(); rules != nil {
		return *rules
	}
	return nil
}

func (s *swapped) Match(f approval.Facts) (approval.Rule, bool)  { return s.now().Match(f) }
func (s *swapped) Shadow(f approval.Facts) (approval.Rule, bool) { return s.now().Shadow(f) }

// call is a command as a coding agent sends it; more are members of the input.
func call(command, cwd string, more map[string]any) json.RawMessage {
	input := map[string]any{"command": command}
	maps.Copy(input, more)
	data, err := json.Marshal(map[string]any{"tool_name": "Bash", "cwd": cwd, "tool_input": input})
	if err != nil {
		panic(err)
	}
	return data
}

// An agent asks for harmless things until people allow them by habit, has its own identity
// answer, and asks for more once a rule is in force that was suggested of that.
func TestARuleThatIsSuggestedAllowsNoMoreThanPeopleDid(t *testing.T) {
	t.Parallel()
	rules := &swapped{}
	w := newAuthBus(t, router.Options{Dispatch: dispatch.Options{Rules: rules}}, identity.Identity{Name: "root", Role: identity.Admin})
	guards, err := worker.New(w.client("guards"), worker.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = guards.Register(t.Context(), worker.Registration{ID: "guard", Events: []string{"tool:pre"}}, func(_ context.Context, ev worker.Event) (worker.Result, error) {
		tool, _ := events.ToolOf(ev.Name, ev.Data)
		return worker.Ask("Run this command?\n\n" + tool.Command)
	})
	if err != nil {
		t.Fatal(err)
	}
	people := map[string]*approver.Approver{"ann": approver.New(w.client("ann")), "root": approver.New(w.client("root"))}
	senders := map[string]*nats.Conn{"coder": w.conn("coder").Conn(), "rival": w.conn("rival").Conn(), "root": w.conn("root").Conn()}
	sessions, ctx := 0, testkit.Within(t, testkit.Patience)
	send := func(who, wait string, data json.RawMessage) (v verdict.Verdict) {
		t.Helper()
		sessions++
		header := nats.Header{"ce-specversion": {"1.0"}, "ce-id": {events.NewID()}, "ce-source": {"/coder"}, "ce-type": {"tool:pre"}, "ce-subject": {fmt.Sprintf("s%d", sessions)}, "Hook-Wait-Ms": {wait}}
		m, err := senders[who].RequestMsgWithContext(ctx, &nats.Msg{Subject: "hooks.execute.tool.pre", Header: header, Data: data})
		if err == nil {
			err = json.Unmarshal(m.Data, &v)
		}
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	ask := func(who string, data json.RawMessage) verdict.Verdict { t.Helper(); return send(who, "1", data) }
	answer := func(who, by, command string) {
		t.Helper()
		v := ask(who, call(command, "/repo", nil))
		if v.Approval == nil {
			t.Fatalf("%q: %+v; want a person asked", command, v)
		}
		if _, err := people[by].Answer(ctx, v.Approval.ID, approval.Answer{Option: "Allow"}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 4 {
		answer("coder", "ann", fmt.Sprintf("acme check conf/%d.yaml", i))
		answer("coder", "ann", "git push --force")
		answer("root", "root", "acme everything")
	}
	answer("coder", "ann", "acme check conf/9.yaml; rm -rf /")

	var log suggest.Log
	l, err := query.Open(t.Context(), w.conn("keeper"))
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Query(t.Context(), query.Filter{Kinds: suggest.Kinds}, func(r query.Record) error { log.Add(&r); return nil }); err != nil {
		t.Fatal(err)
	}
	judge, err := suggest.NewJudge()
	if err != nil {
		t.Fatal(err)
	}
	defer judge.Close()
	report, err := suggest.Suggest(t.Context(), &log, judge, suggest.Options{Min: 3, Sessions: 2, Unproven: true})
	if err != nil || len(report.Rules) != 1 || report.Rules[0].Rule.Command != "acme check conf/*.yaml" || report.Saved != 4 || report.Unproven != 4 {
		t.Fatalf("%+v, %v", report, err)
	}

	list := approval.Rules{report.Rules[0].Rule}
	rules.rules.Store(&list)
	if v := ask("coder", call("acme check conf/7.yaml", "/repo", nil)); v.Action != verdict.Pending {
		t.Errorf("in shadow: %+v; want a person asked", v)
	}
	enforced := list.Enforced()
	rules.rules.Store(&enforced)
	if v := send("coder", "5000", call("acme check conf/7.yaml", "/repo", nil)); v.Action != verdict.Continue || v.Approval.DecidedBy != "rule acme check conf/*.yaml" {
		t.Errorf("in force: %+v; want it allowed by the rule", v)
	}
	for sentence, v := range map[string]verdict.Verdict{
		"another agent":     ask("rival", call("acme check conf/7.yaml", "/repo", nil)),
		"another directory": ask("coder", call("acme check conf/7.yaml", "/", nil)),
		"no sandbox":        ask("coder", call("acme check conf/7.yaml", "/repo", map[string]any{"dangerouslyDisableSandbox": true})),
		"variables":         ask("coder", call("acme check conf/7.yaml", "/repo", map[string]any{"env": map[string]string{"LD_PRELOAD": "x"}})),
		"a second command":  ask("coder", call("acme check conf/7.yaml;id", "/repo", nil)),
		"a line break":      ask("coder", call("acme check conf/7.yaml\nid", "/repo", nil)),
		"a path upwards":    ask("coder", call("acme check conf/../../.ssh/x.yaml", "/repo", nil)),
		"a command within":  ask("coder", call("acme check conf/$(id).yaml", "/repo", nil)),
		"a secret":          ask("coder", call("acme check conf/credentials.yaml", "/repo", nil)),
		"more words":        ask("coder", call("acme check conf/7.yaml --delete", "/repo", nil)),
		"a push":            ask("coder", call("git push --force", "/repo", nil)),
	} {
		if v.Action != verdict.Pending {
			t.Errorf("%s: %+v; want a person asked", sentence, v)
		}
	}
}
