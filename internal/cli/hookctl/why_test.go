package hookctl_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/hookctl"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/clibus"
	"github.com/hookrouter/hookrouter/internal/testkit/clitest"
	"github.com/hookrouter/hookrouter/internal/why"
	"github.com/hookrouter/hookrouter/pkg/audit"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// told is an agent's answer.
type told struct {
	EventID string `json:"event_id"`
	ChainID string `json:"chain_id"`
}

func execute(t *testing.T, f *clitest.Fixture, data string, code int) (ids told) {
	t.Helper()
	got := f.Run("execute", "tool:pre", data, "--json")
	if err := json.Unmarshal([]byte(got.Stdout), &ids); err != nil || got.Code != code || ids.EventID == "" || ids.ChainID == "" {
		t.Fatalf("code %d, %v: %s%s", got.Code, err, got.Stdout, got.Stderr)
	}
	return ids
}

func story(t *testing.T, f *clitest.Fixture, id ...string) (s why.Story) {
	t.Helper()
	got := f.Run(append([]string{"why", "--json"}, id...)...)
	if err := json.Unmarshal([]byte(got.Stdout), &s); err != nil || got.Code != cli.ExitOK {
		t.Fatalf("code %d, %v: %s%s", got.Code, err, got.Stdout, got.Stderr)
	}
	return s
}

// denying returns a fixture with a hook that changes the data and one that denies by a rule.
func denying(t *testing.T, denial chain.Result) *clitest.Fixture {
	t.Helper()
	f := clibus.New(t, hookctl.Run)
	f.Hook(chain.Registration{ID: "normal", Events: []string{"tool:pre"}, Priority: 1}, func(_ context.Context, ev worker.Event) (chain.Result, error) {
		var data map[string]any
		if err := json.Unmarshal(ev.Data, &data); err != nil {
			return chain.Result{}, err
		}
		data["cwd"] = "/srv"
		r, err := chain.Replace(data)
		r.Rule = "a.yaml:3 cel.rules[0]"
		return r, err
	})
	f.Hook(chain.Registration{ID: "guard", Events: []string{"tool:pre"}, Priority: 2, Match: `!has(data.fine)`}, clitest.Answering(denial))
	return f
}

func TestEachIdLeadsToTheRule(t *testing.T) {
	t.Parallel()
	denial := chain.Denial("not here")
	denial.Rule = `guards.yaml:13 command-guard.deny[1] "make deploy"`
	f := denying(t, denial)
	ids := execute(t, f, `{"session_id":"s 1","tool_name":"Bash","tool_input":{"command":"make deploy"}}`, cli.ExitDenied)
	execute(t, f, `{"session_id":"other","tool_name":"Bash","fine":true}`, cli.ExitOK)
	for _, id := range [][]string{{ids.EventID}, {ids.ChainID}, {"s 1"}, nil} {
		s := story(t, f, id...)
		if s.Verdict != why.Denied || s.Hook != "guard" || s.Rule != denial.Rule || s.Reason != "not here" || s.Tool != "Bash" || s.Subject != "make deploy" || s.ChainID != ids.ChainID {
			t.Errorf("%q: %+v", id, s)
		}
		if len(s.Hooks) != 2 || s.Hooks[0].Rule != "a.yaml:3 cel.rules[0]" || !strings.Contains(string(s.Hooks[0].Changes), "/cwd") {
			t.Errorf("%q: the hooks are %+v", id, s.Hooks)
		}
	}
	if s := story(t, f, "other"); s.Verdict != why.Allowed || s.Hook != "" {
		t.Errorf("an event that passed: %+v", s)
	}
	for _, command := range [][]string{{"audit", "show", ids.EventID, "--text"}, {"audit", "show", "s 1", "--text"}, {"trace", ids.EventID, "--text"}} {
		if got := f.Run(command...); got.Code != cli.ExitOK || !strings.Contains(got.Stdout, ids.ChainID) {
			t.Errorf("%q: code %d: %s%s", command, got.Code, got.Stdout, got.Stderr)
		}
	}
	for _, command := range [][]string{{"why", "nothing"}, {"audit", "show", "nothing"}, {"trace", "nothing"}} {
		got := f.Run(command...)
		if got.Code != cli.ExitLocal || !strings.Contains(got.Stderr, "reading the whole log") || !strings.Contains(got.Stderr, "not recorded") {
			t.Errorf("%q: code %d: %s", command, got.Code, got.Stderr)
		}
	}
}

func TestAnApprovalSaysWhoDecided(t *testing.T) {
	t.Parallel()
	ask := chain.Question("Deploy?", "Allow once", "Deny")
	ask.Rule = "guards.yaml:9 cel.rules[2]"
	f := denying(t, ask)
	got := f.Run("execute", "tool:pre", `{"session_id":"s1","tool_name":"Bash","tool_input":{"command":"make deploy"}}`, "--no-wait", "--json")
	var asked struct {
		Verdict struct {
			Approval struct{ ID string }
		}
	}
	if err := json.Unmarshal([]byte(got.Stdout), &asked); err != nil || asked.Verdict.Approval.ID == "" {
		t.Fatalf("%v: %s%s", err, got.Stdout, got.Stderr)
	}
	pending := asked.Verdict
	s := story(t, f, pending.Approval.ID)
	if s.Verdict != why.Waiting || s.Hook != "guard" || s.Rule != ask.Rule || s.Next[0] != "hookctl approvals show "+pending.Approval.ID {
		t.Errorf("before the answer: %+v", s)
	}
	if got := f.Run("approvals", "answer", pending.Approval.ID, "Deny", "--note", "no window"); got.Code != cli.ExitOK {
		t.Fatal(got.Stderr)
	}
	for _, id := range [][]string{{pending.Approval.ID}, nil} { // it is also the last denial
		s = story(t, f, id...)
		if s.Verdict != why.Denied || s.By == "" || s.Reason != "no window" || len(s.Approval) != 1 || s.Approval[0].Option != "Deny" || s.Rule != ask.Rule {
			t.Errorf("%q, after the answer: %+v", id, s)
		}
	}
}

// The screen shows what each hook changed, who approved, how long it took and what to type next.
// The id of the approval request finds the same chain elsewhere.
func TestTheScreenSaysWhoDecidedAndWhatChanged(t *testing.T) {
	t.Parallel()
	ask := chain.Question("Deploy?", "Allow once", "Deny")
	ask.Rule = "guards.yaml:9 cel.rules[2]"
	f := denying(t, ask)
	f.Run("execute", "tool:pre", `{"session_id":"s1","tool_name":"Bash","tool_input":{"command":"make deploy"}}`, "--no-wait")
	id := clitest.ApprovalID.FindString(f.Run("approvals").Stdout)
	f.Run("approvals", "answer", id, "Deny", "--note", "no window", "--by", "ann")
	want := `
DENIED  tool:pre  Bash
about    make deploy
hook     guard
rule     guards.yaml:9 cel.rules[2]
reason   no window
answer   denied ("Deny") by unauthenticated, who claims to be ann, after SPAN
when     TIME, took MS
agent    hookctl
session  s1
event    ID
chain    ID  at PLACE of HOOKS_AUDIT

  normal  modify  MS
    a.yaml:3 cel.rules[0]
    + cwd: "/srv"
  guard   ask_user  MS
next     hookctl audit show ID`
	got := f.Run("--text", "why", id)
	shown := regexp.MustCompile(` at \d+:\d+ of `).ReplaceAllString(clitest.Still(got.Stdout), " at PLACE of ")
	if diff := cmp.Diff(strings.TrimSpace(want), shown); diff != "" || got.Code != cli.ExitOK {
		t.Errorf("why (-want +got):\n%s%s", diff, got.Stderr)
	}
	for _, command := range [][]string{{"audit", "show", id}, {"trace", id}} {
		if got := f.Run(append(command, "--text")...); got.Code != cli.ExitOK || !strings.Contains(got.Stdout, " by unauthenticated") {
			t.Errorf("%q: %+v", command, got)
		}
	}
}

// A hook that was called in parallel with one that denied was not skipped by its match.
func TestAHookCalledInVainIsNotSkipped(t *testing.T) {
	t.Parallel()
	f := clibus.NewAudit(t, hookctl.Run)
	base := audit.Record{Time: clibus.Began, ChainID: "c1", Session: "s1", Event: "tool:pre", EventID: "e1"}
	denial, vain, result := base, base, base
	denial.Kind, denial.Hook, denial.Action, denial.Detail = audit.HookResult, "command-guard", "deny", audit.Call{Reason: "no", Took: time.Millisecond}
	vain.Kind, vain.Hook, vain.Action, vain.Detail = audit.HookSkipped, "metadata-and-console", "in_vain", audit.Call{Took: time.Millisecond}
	result.Kind, result.Action, result.Detail = audit.ChainResult, "deny", audit.Chain{DeniedBy: "command-guard", Called: 2}
	f.Write(denial, vain, result)
	for command, want := range map[string]string{
		"why":        "  metadata-and-console  answer discarded: another hook denied or added labels\n",
		"audit show": " 2  metadata-and-console  answer discarded  another hook denied or added labels",
		"trace":      "  answer discarded\n",
	} {
		got := f.Run(append(strings.Fields(command), "c1", "--text")...)
		if got.Code != cli.ExitOK || !strings.Contains(got.Stdout, want) || strings.Contains(got.Stdout, "match was false") {
			t.Errorf("%s: %+v; want %q", command, got, want)
		}
	}
}

// A guard without a worker names no rule, and the last command on the screen removes it.
func TestAGuardWithoutAWorkerSaysWhatToDo(t *testing.T) {
	t.Parallel()
	f := clibus.New(t, hookctl.Run)
	if _, err := f.NC.Request("hooks.register.guard", []byte(`{"id":"guard","events":["tool:pre"],"on_failure":"deny","durable":true}`), testkit.Patience); err != nil {
		t.Fatal(err)
	}
	execute(t, f, `{"tool_name":"Bash"}`, cli.ExitDenied)
	got := f.Run("why", "--text")
	if !strings.Contains(got.Stdout, "guard  failed (no_responder)") || strings.Contains(got.Stdout, "\nrule ") {
		t.Errorf("%+v", got)
	}
	lines := strings.Split(strings.TrimSpace(got.Stdout), "\n")
	command, note, _ := strings.Cut(strings.TrimSpace(lines[len(lines)-1]), "  # ")
	if note != "only if nobody is to serve it any more" {
		t.Errorf("the last line is %q", lines[len(lines)-1])
	}
	if !strings.Contains(got.Stdout, "\nnext     # no worker serves guard: start it again\n") {
		t.Errorf("to start its worker does not come first:\n%s", got.Stdout)
	}
	if got := f.Run(append(strings.Fields(command)[1:], "--text")...); got.Stdout != "removed hook guard\n" {
		t.Errorf("%s: %+v", command, got)
	}
}

// Without any denial, there is no note about an index.
func TestWhyWithoutADenial(t *testing.T) {
	t.Parallel()
	f := clibus.New(t, hookctl.Run)
	got := f.Run("why")
	if got.Code != cli.ExitLocal || !strings.HasPrefix(got.Stderr, "hookctl: why: the audit log has no denial; ") {
		t.Errorf("%+v", got)
	}
}

// Text from a worker and an agent fits one screen, and does not act on the terminal.
func TestTheScreenIsOneAndSafe(t *testing.T) {
	t.Parallel()
	evil := "\x1b[2J\u202e" + strings.Repeat("x\n", 4000)
	denial := chain.Denial(evil)
	f := denying(t, denial)
	for i := range 30 {
		f.Hook(chain.Registration{ID: fmt.Sprintf("hook-%d", i), Events: []string{"tool:pre"}, Priority: -i}, clitest.Answering(chain.Result{Action: chain.InjectContext, ContextInjection: "x"}))
	}
	// A worker that speaks the protocol directly: the SDK would have bounded the header.
	sub, err := f.NC.QueueSubscribe("hooks.call.raw", "raw", func(m *nats.Msg) {
		_ = m.RespondMsg(&nats.Msg{Header: nats.Header{"Hook-Rule": {"w.yaml:1 \x1b]0;owned\x07\u202e" + strings.Repeat("y", 60_000)}, "Hook-Call-Id": m.Header["Hook-Call-Id"]}, Data: []byte(`{"action":"inject_context","context_injection":"x"}`)})
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = sub.Unsubscribe() }()
	if _, err := f.NC.Request("hooks.register.raw", []byte(`{"id":"raw","events":["tool:pre"],"priority":-99}`), testkit.Patience); err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(map[string]any{"session_id": "s$(reboot)" + strings.Repeat("é", 200), "tool_name": evil, "tool_input": map[string]any{"command": evil}})
	if err != nil {
		t.Fatal(err)
	}
	ids := execute(t, f, string(data), cli.ExitDenied)
	s := story(t, f, ids.ChainID)
	if rule := s.Hooks[0].Rule; len(rule) > chain.MaxRule || strings.ContainsAny(rule, "\x1b\x07\u202e") || !strings.HasPrefix(rule, "w.yaml:1 ") {
		t.Errorf("a rule is recorded as %q", rule)
	}
	got := f.Run("why", ids.EventID, "--text")
	lines := strings.Split(strings.TrimRight(got.Stdout, "\n"), "\n")
	if len(lines) > 40 {
		t.Errorf("%d lines:\n%s", len(lines), got.Stdout)
	}
	for _, line := range lines {
		if utf8.RuneCountInString(line) > 80 || strings.ContainsAny(line, "\x1b\u202e") {
			t.Errorf("%q", line)
		}
	}
	if !strings.Contains(got.Stdout, "  guard    deny") || strings.Contains(strings.Join(s.Next, " "), "reboot") {
		t.Errorf("next is %q, and the screen:\n%s", s.Next, got.Stdout)
	}
}
