package agent_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/hooktest"
	"github.com/hookrouter/hookrouter/pkg/verdict"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// A reminder for the next call stays one, whatever another hook injects beside it.
func TestSessionDeliversEachInjectionAsItsHookSays(t *testing.T) {
	t.Parallel()
	b := hooktest.Start(t)
	b.Register(t, worker.Registration{ID: "lint", Events: toolPre}, hooktest.Script(chain.Result{
		Action: chain.InjectContext, ContextInjection: "3 findings", ContextInjectionRole: chain.RoleUser,
		UserMessage: "linted", UserMessageSource: "ruff",
	}).Handle)
	b.Register(t, worker.Registration{ID: "todo", Events: toolPre, Priority: 1}, hooktest.Script(chain.Result{
		Action: chain.InjectContext, ContextInjection: "2 open", Ephemeral: true, AppendToLastToolResult: true,
	}).Handle)
	b.Register(t, worker.Registration{ID: "shadow", Events: toolPre, Mode: chain.Shadow}, hooktest.Script(chain.Injection("unseen")).Handle)
	const merged = "Hook feedback:\n\nFrom lint (10 bytes):\n3 findings\n\nFrom todo (6 bytes):\n2 open"
	for sentence, c := range map[string]struct {
		merged bool
		calls  [2][]string // the next two model calls
	}{
		"each with its own role and lifetime": {
			false, [2][]string{{"tool: done", "user: 3 findings [lint]", "system: 2 open [todo]"}, {"tool: done", "user: 3 findings [lint]"}},
		},
		"as one with the settings of the first": {
			true, [2][]string{{"tool: done", "user: " + merged + " [composite]"}, {"tool: done", "user: " + merged + " [composite]"}},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			var memory agent.MemoryContext
			_ = memory.AddMessage(t.Context(), agent.Message{Role: agent.RoleTool, Content: "done"})
			display := &hooktest.FakeDisplay{}
			session := newSession(t, b.Agent(t, "s1"), agent.SessionOptions{Context: &memory, Display: display, Merged: c.merged})
			x, err := session.Execute(t.Context(), events.ToolPre, nil)
			if err != nil || !x.Permitted() {
				t.Fatalf("%+v, %v", x, err)
			}
			want := []chain.ContextInjection{
				{Content: "3 findings", Role: chain.RoleUser, HookName: "lint", HookID: "lint", Event: events.ToolPre},
				{Content: "2 open", Role: chain.RoleSystem, Ephemeral: true, AppendToLastToolResult: true, HookName: "todo", HookID: "todo", Event: events.ToolPre},
			}
			if diff := cmp.Diff(want, x.ContextInjections); diff != "" {
				t.Errorf("verdict (-want +got):\n%s", diff)
			}
			shows := []verdict.Display{{Message: "linted", Level: chain.LevelInfo, Source: "hook:lint", HookID: "lint", UserMessageSource: "ruff"}}
			if diff := cmp.Diff(shows, display.Shown()); diff != "" {
				t.Errorf("display (-want +got):\n%s", diff)
			}
			if line := agent.Line(x.Display[0]); line != "[info] hook:lint (ruff): linted" {
				t.Errorf("a terminal shows %q", line)
			}
			for i, want := range c.calls {
				got, err := session.NextCall(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, shown(got)); diff != "" {
					t.Errorf("call %d (-want +got):\n%s", i+1, diff)
				}
			}
			answer, err := session.Emit(t.Context(), events.ToolPre, nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(x.ContextInjections, answer.ContextInjections); diff != "" {
				t.Errorf("emit (-execute +emit):\n%s", diff)
			}
		})
	}
}

// The verdict after an approval is the one that was stored with the request: it drops
// injections, in the list as in the message, and names the source of what it displays.
func TestExecuteAfterAnApprovalListsNoInjections(t *testing.T) {
	t.Parallel()
	b := hooktest.Start(t)
	b.Register(t, worker.Registration{ID: "lint", Events: toolPre}, hooktest.Script(chain.Result{
		Action: chain.InjectContext, ContextInjection: "3 findings", UserMessage: "linted", UserMessageSource: "ruff",
	}).Handle)
	b.Register(t, worker.Registration{ID: "careful", Events: toolPre, Priority: 1}, hooktest.Script(asking).Handle)
	b.Approve(t, "Allow")
	x, err := b.Agent(t, "s1").Execute(t.Context(), events.ToolPre, nil)
	if err != nil || !x.Permitted() || x.Approval == nil {
		t.Fatalf("%+v, %v", x, err)
	}
	if x.Messages != nil || x.ContextInjections != nil || len(x.Warnings) != 1 || x.Warnings[0].Kind != verdict.Overridden {
		t.Errorf("%+v, %+v, %+v", x.Messages, x.ContextInjections, x.Warnings)
	}
	want := []verdict.Display{{Message: "linted", Level: chain.LevelInfo, Source: "hook:lint", HookID: "lint", UserMessageSource: "ruff"}}
	if diff := cmp.Diff(want, x.Display); diff != "" {
		t.Errorf("display (-want +got):\n%s", diff)
	}
}
