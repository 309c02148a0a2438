package local_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/local"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// registry has hooks for all events, each of which answers one thing.
func registry(t *testing.T, results ...chain.Result) *chain.Registry {
	t.Helper()
	hooks := local.NewRegistry()
	for i, r := range results {
		reg := chain.Registration{ID: string(rune('a' + i)), Events: []string{"*"}}
		if _, err := hooks.Register(reg, func(context.Context, events.Event) (chain.Result, error) { return r, nil }); err != nil {
			t.Fatal(err)
		}
	}
	return hooks
}

func execute(t *testing.T, s *local.Session, event, data string) verdict.Verdict {
	t.Helper()
	v, err := s.Execute(t.Context(), event, json.RawMessage(data))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestRegistryCompilesMatch(t *testing.T) {
	t.Parallel()
	hooks := local.NewRegistry()
	deny := func(context.Context, events.Event) (chain.Result, error) { return chain.Denial("no shell"), nil }
	if _, err := hooks.Register(chain.Registration{ID: "a", Events: []string{"tool:pre"}, Match: "data.tool_name == 'Bash'"}, deny); err != nil {
		t.Fatal(err)
	}
	if _, err := hooks.Register(chain.Registration{ID: "b", Events: []string{"tool:pre"}, Match: "((("}, deny); err == nil {
		t.Error("a match that can't be compiled was registered")
	}
	s := local.NewSession(hooks, local.Options{})
	for tool, want := range map[string]verdict.Action{"Bash": verdict.Deny, "Read": verdict.Continue} {
		if v := execute(t, s, "tool:pre", `{"tool_name":"`+tool+`"}`); v.Action != want {
			t.Errorf("%s: %s, want %s", tool, v.Action, want)
		}
	}
}

func TestRegistryCollectsContributions(t *testing.T) {
	t.Parallel()
	hooks := local.NewRegistry()
	for id, value := range map[string]any{
		"a": []int{1}, "b": nil, "c": "two", "d": []string(nil), "e": (*int)(nil), "f": json.RawMessage(" null "),
	} {
		_, err := hooks.Contribute(chain.Registration{ID: id, Channels: []string{"tips"}}, func(context.Context, string) (any, error) { return value, nil })
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := hooks.Contribute(chain.Registration{ID: "g", Channels: []string{"tips"}}, func(context.Context, string) (any, error) { panic("x") }); err != nil {
		t.Fatal(err)
	}
	got, err := hooks.CollectContributions(t.Context(), "tips", 0)
	if err != nil || len(got) != 2 {
		t.Errorf("%s, %v", got, err)
	}
	if result, err := hooks.Emit(t.Context(), "tips:x", nil); err != nil || result.Action != chain.Continue {
		t.Errorf("a contributor answered an event: %+v, %v", result, err)
	}
}

func TestSessionKeepsTheBudgetOfATurn(t *testing.T) {
	t.Parallel()
	hooks := registry(t, chain.Injection(strings.Repeat("x", 24)), chain.Result{Action: chain.InjectContext, ContextInjection: "1234", Ephemeral: true})
	s := local.NewSession(hooks, local.Options{Limits: verdict.Limits{Budget: 8}})
	for i, step := range []struct {
		event string
		used  int
		texts []string
	}{
		{events.PromptSubmit, 7, []string{strings.Repeat("x", 24), "1234"}},
		{events.ExecutionStart, 8, []string{"1234"}}, // of the same turn
		{events.ToolPre, 8, nil},
		{events.ExecutionStart, 7, []string{strings.Repeat("x", 24), "1234"}},
		{events.SessionEnd, 8, []string{"1234"}},
		{events.ToolPre, 7, []string{strings.Repeat("x", 24), "1234"}},
	} {
		v := execute(t, s, step.event, `{}`)
		var texts []string
		for _, one := range v.ContextInjections {
			texts = append(texts, one.Content)
		}
		if diff := cmp.Diff(step.texts, texts); diff != "" || v.InjectedTokens != step.used {
			t.Errorf("step %d: used %d, want %d; (-want +got):\n%s", i, v.InjectedTokens, step.used, diff)
		}
	}
}

func TestSessionAsks(t *testing.T) {
	t.Parallel()
	zero := 0.0
	says := func(option string, err error) local.Asker {
		return func(context.Context, approval.Record) (string, error) { return option, err }
	}
	waits := func(ctx context.Context, _ approval.Record) (string, error) { <-ctx.Done(); return "Allow", ctx.Err() }
	for sentence, c := range map[string]struct {
		asks   chain.Result
		ask    local.Asker
		want   verdict.Action
		reason string
	}{
		"a person allows":                  {chain.Question("Go?"), says("Allow", nil), verdict.Continue, ""},
		"a person denies":                  {chain.Question("Go?"), says("Deny", nil), verdict.Deny, "User denied: Go?"},
		"an answer that was not offered":   {chain.Question("Go?", "Deploy", "Deny"), says("Allow", nil), verdict.Deny, "Approval error - denied by default: Go?"},
		"an option of another name":        {chain.Question("Go?", "Deploy", "Deny"), says("Deploy", nil), verdict.Deny, "User denied: Go?"},
		"nobody can be asked":              {chain.Question("Go?"), nil, verdict.Deny, "No approval system available"},
		"asking fails":                     {chain.Question("Go?"), says("", errors.New("x")), verdict.Deny, "Approval error - denied by default: Go?"},
		"asking fails, and allow is due":   {chain.Result{Action: chain.AskUser, ApprovalDefault: chain.Allow}, says("", errors.New("x")), verdict.Continue, ""},
		"nobody answers in time":           {chain.Result{Action: chain.AskUser, ApprovalPrompt: "Go?", ApprovalTimeout: &zero}, waits, verdict.Deny, "Approval timeout - denied by default: Go?"},
		"options that nobody can read":     {chain.Question("Go?", "Allow", "\n"), says("Allow", nil), verdict.Deny, "Approval error - denied by default: Go?"},
		"nobody in time, and allow is due": {chain.Result{Action: chain.AskUser, ApprovalDefault: chain.Allow, ApprovalTimeout: &zero}, waits, verdict.Continue, ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			v := execute(t, local.NewSession(registry(t, c.asks), local.Options{Ask: c.ask}), events.ToolPre, `{"n":1}`)
			if v.Action != c.want || v.Reason != c.reason {
				t.Errorf("%s %q, want %s %q", v.Action, v.Reason, c.want, c.reason)
			}
			if (v.Data != nil) != (c.want == verdict.Continue) {
				t.Errorf("the data is %s", v.Data)
			}
		})
	}
}

func TestSessionAsksNobodyForGroups(t *testing.T) {
	t.Parallel()
	hooks := local.NewRegistry()
	reg := chain.Registration{ID: "a", Events: []string{"*"}, Approval: &chain.Approval{Approvers: []chain.Approvers{{Group: "security"}}}}
	if _, err := hooks.Register(reg, func(context.Context, events.Event) (chain.Result, error) { return chain.Question("Go?"), nil }); err != nil {
		t.Fatal(err)
	}
	ask := func(context.Context, approval.Record) (string, error) { return "Allow", nil }
	if v := execute(t, local.NewSession(hooks, local.Options{Ask: ask}), events.ToolPre, `{}`); v.Action != verdict.Deny {
		t.Errorf("one person stood for a group: %+v", v)
	}
}

// What was always allowed is asked again for another input, and after the session's end.
func TestSessionRemembersAllowAlways(t *testing.T) {
	t.Parallel()
	asked := 0
	ask := func(_ context.Context, r approval.Record) (string, error) {
		asked++
		if string(r.Data) == "" || r.DataSHA256 != approval.Digest(r.Data) {
			t.Errorf("asked about %s", r.Data)
		}
		return "Allow always", nil
	}
	s := local.NewSession(registry(t, chain.Question("Go?", "Allow always", "Deny")), local.Options{ID: "s1", Ask: ask})
	tool := func(command string) string { return `{"tool_name":"Bash","tool_input":{"command":"` + command + `"}}` }
	for i, step := range []struct {
		event, data string
		asked       int
	}{
		{events.ToolPre, tool("ls"), 1},
		{events.ToolPre, tool("ls"), 1},
		{events.ToolPre, tool("rm -rf /"), 2},
		{events.SessionEnd, `{}`, 3},
		{events.ToolPre, tool("ls"), 4},
	} {
		before := asked
		v := execute(t, s, step.event, step.data)
		if asked != step.asked || v.Action != verdict.Continue || v.Approval.Cached != (asked == before) {
			t.Errorf("step %d: asked %d times, want %d: %+v", i, asked, step.asked, v.Approval)
		}
	}
}

func TestSessionPermitsNothingWhereItsCallerLeft(t *testing.T) {
	t.Parallel()
	ctx, leave := context.WithCancel(t.Context())
	ask := func(context.Context, approval.Record) (string, error) { leave(); return "Allow", nil }
	s := local.NewSession(registry(t, chain.Question("Go?")), local.Options{Ask: ask})
	if v, err := s.Execute(ctx, events.ToolPre, nil); !errors.Is(err, context.Canceled) || v.Action == verdict.Continue {
		t.Errorf("%+v, %v", v, err)
	}
	if _, err := local.NewSession(registry(t), local.Options{ID: "s1"}).Execute(t.Context(), events.ToolPre, map[string]string{"session_id": "s2"}); err == nil {
		t.Error("an event of another session was executed")
	}
}

// An approval covers what the call does, however its agent spells it, and no other session.
func TestAllowAlwaysCoversTheCallAlone(t *testing.T) {
	t.Parallel()
	asked := 0
	ask := func(context.Context, approval.Record) (string, error) {
		asked++
		return "Allow always", nil
	}
	s := local.NewSession(registry(t, chain.Question("Go?", "Allow always", "Deny")), local.Options{Ask: ask})
	first := ""
	for i, step := range []struct {
		data  string
		asked int
	}{
		{`{"session_id":"s1","toolName":"bash","toolArgs":{"command":"ls"}}`, 1},
		{`{"session_id":"s1","toolName":"bash","toolArgs":{"command":"ls","description":"List"},"timestamp":2}`, 1},
		{`{"session_id":"s1","toolName":"bash","toolArgs":{"command":"rm -rf /"}}`, 2},
		{`{"session_id":"s2","toolName":"bash","toolArgs":{"command":"ls"}}`, 3},
	} {
		v := execute(t, s, events.ToolPre, step.data)
		if i == 0 {
			first = v.Approval.ID
		}
		if asked != step.asked || v.Approval.Option != "Allow always" {
			t.Errorf("step %d: asked %d times, want %d: %+v", i, asked, step.asked, v.Approval)
		}
		if v.Approval.Cached && v.Approval.ID != first {
			t.Errorf("step %d: %s allowed it, and not %s", i, v.Approval.ID, first)
		}
	}
}

// Each session has its own turn, and its end ends no other.
func TestSessionsOfOneProgramAreApart(t *testing.T) {
	t.Parallel()
	s := local.NewSession(registry(t, chain.Injection("12345678")), local.Options{Limits: verdict.Limits{Budget: 8}})
	for i, step := range []struct {
		event, data string
		used        int
	}{
		{events.ToolPre, `{"session_id":"s1"}`, 2},
		{events.ToolPre, `{"session_id":"s2"}`, 2},
		{events.SessionEnd, `{"session_id":"s2"}`, 4},
		{events.ToolPre, `{"session_id":"s1"}`, 4},
	} {
		if v := execute(t, s, step.event, step.data); v.InjectedTokens != step.used {
			t.Errorf("step %d: used %d, want %d", i, v.InjectedTokens, step.used)
		}
	}
}
