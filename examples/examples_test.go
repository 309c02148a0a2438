package examples

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/internal/policy/match"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

func TestRegistrationsAreAccepted(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range All() {
		body, err := json.Marshal(e.Registration)
		if err != nil {
			t.Fatal(err)
		}
		got, ignored, err := chain.ParseRegistration(e.Registration.ID, body, 0)
		if err != nil || len(ignored) > 0 {
			t.Errorf("%s: %v, ignored %q", e.Registration.ID, err, ignored)
		}
		if diff := cmp.Diff(e.Registration, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", e.Registration.ID, diff)
		}
		if seen[e.Registration.ID] {
			t.Errorf("the id %s is given twice", e.Registration.ID)
		}
		seen[e.Registration.ID] = true
	}
}

func TestGuardsFailClosedAndOthersOpen(t *testing.T) {
	var guards []string
	for _, e := range All() {
		if e.Registration.OnFailure == chain.FailClosed {
			guards = append(guards, e.Registration.ID)
		}
	}
	want := []string{"bash-validator", "path-guard", "redaction", "production-guard"}
	if diff := cmp.Diff(want, guards); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// calls returns the ids of the hooks that are called for an event, in order.
func calls(t *testing.T, event, data string) []string {
	t.Helper()
	var called []Example
	for _, e := range All() {
		if !slices.ContainsFunc(e.Registration.Events, func(p string) bool { return events.Match(p, event) }) {
			continue
		}
		if e.Registration.Match != "" {
			program, err := match.Compile(e.Registration.Match)
			if err != nil {
				t.Fatalf("%s: %v", e.Registration.ID, err)
			}
			holds, err := program.Eval(match.NewInput(event, "s1", []byte(data)))
			if err != nil {
				t.Errorf("%s can't be matched with %s: %v", e.Registration.ID, data, err)
			}
			if !holds {
				continue
			}
		}
		called = append(called, e)
	}
	slices.SortStableFunc(called, func(a, b Example) int { return a.Registration.Priority - b.Registration.Priority })
	ids := []string{}
	for _, e := range called {
		ids = append(ids, e.Registration.ID)
	}
	return ids
}

func TestWhoIsCalled(t *testing.T) {
	for sentence, c := range map[string]struct {
		event, data string
		want        []string
	}{
		"a shell command": {
			events.ToolPre, `{"tool_name":"Bash","tool_input":{"command":"ls"}}`, []string{"bash-validator", "audit", "todo-reminder"},
		},
		"a file to write": {
			events.ToolPre, `{"tool_name":"Write","tool_input":{"file_path":"/x"}}`,
			[]string{"path-guard", "production-guard", "audit", "todo-reminder"},
		},
		"a file to read": {
			events.ToolPre, `{"tool_name":"Read","tool_input":{"file_path":"/x"}}`, []string{"path-guard", "audit", "todo-reminder"},
		},
		"a tool of a server": {
			events.ToolPre, `{"tool_name":"mcp__mail__send","tool_input":{}}`, []string{"redaction", "audit", "todo-reminder"},
		},
		"a tool without a name":  {events.ToolPre, `{}`, []string{"audit", "todo-reminder"}},
		"a file was written":     {events.ToolPost, `{"tool_name":"Edit"}`, []string{"audit", "linter-feedback"}},
		"todos were written":     {events.ToolPost, `{"tool_name":"TodoWrite"}`, []string{"audit", "todo-reminder"}},
		"files were processed":   {events.ToolPost, `{"files_processed":1}`, []string{"audit", "progress"}},
		"a tool failed":          {"error:tool", `{}`, []string{"audit"}},
		"a session starts":       {events.SessionStart, `{}`, []string{"session-context", "git-status"}},
		"a session ends":         {events.SessionEnd, `{}`, []string{"todo-reminder", "session-stats"}},
		"a prompt":               {events.PromptSubmit, `{}`, []string{"date-time"}},
		"the agent is done":      {events.OrchestratorComplete, `{}`, []string{"session-stats", "notifier"}},
		"the user is needed":     {events.UserNotification, `{}`, []string{"notifier"}},
		"a tool is to be chosen": {events.DecisionToolResolution, `{}`, []string{"tool-suggest"}},
		"an event of one's own":  {"my:event", `{}`, []string{}},
	} {
		t.Run(sentence, func(t *testing.T) {
			if diff := cmp.Diff(c.want, calls(t, c.event, c.data)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// registry has all example hooks, each with its match as a condition of its own.
func registry(t *testing.T) *chain.Registry {
	t.Helper()
	r := &chain.Registry{}
	for _, e := range All() {
		reg, hook := e.Registration, e.Hook
		if reg.Match != "" {
			program, err := match.Compile(reg.Match)
			if err != nil {
				t.Fatal(err)
			}
			reg.Match = ""
			hook = func(ctx context.Context, ev events.Event) (chain.Result, error) {
				if holds, err := program.Eval(match.NewInput(ev.Name, ev.Session, ev.Data)); err != nil || !holds {
					return chain.Result{}, err
				}
				return e.Hook(ctx, ev)
			}
		}
		if _, err := r.Register(reg, hook); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func TestHooksTogether(t *testing.T) {
	for sentence, c := range map[string]struct {
		event, data string
		action      chain.Action
		says        string // occurs in the result's text
	}{
		"a destructive command is denied": {
			events.ToolPre, `{"tool_name":"Bash","tool_input":{"command":"sudo rm -rf /*"}}`, chain.Deny, "Dangerous command blocked",
		},
		"a command that can't be read is denied": {
			events.ToolPre, `{"tool_name":"Bash","tool_input":{"command":7}}`, chain.Deny, "bash-validator",
		},
		"an ordinary command passes": {
			events.ToolPre, `{"tool_name":"Bash","tool_input":{"command":"go test ./..."}}`, chain.Continue, "go test",
		},
		"a protected file is denied": {
			events.ToolPre, `{"tool_name":"Read","tool_input":{"file_path":"/tmp/../etc/shadow"}}`, chain.Deny, "/etc/shadow is in a protected",
		},
		"a production file is asked about": {
			events.ToolPre, `{"tool_name":"Write","tool_input":{"file_path":"/srv/production/app.yaml"}}`, chain.AskUser, "/srv/production/app.yaml?",
		},
		"an environment file is asked about": {
			events.ToolPre, `{"tool_name":"Edit","tool_input":{"file_path":"/srv/app/.env"}}`, chain.AskUser, "/srv/app/.env?",
		},
		"a card number is masked": {
			events.ToolPre, `{"tool_name":"SendEmail","tool_input":{"body":"4111-1111-1111-1111"}}`, chain.Continue, "[REDACTED:card]",
		},
		"a prompt gets the time": {events.PromptSubmit, `{"prompt":"hello"}`, chain.InjectContext, "Current date/time: 20"},
	} {
		t.Run(sentence, func(t *testing.T) {
			got, err := registry(t).Emit(t.Context(), c.event, json.RawMessage(c.data))
			if err != nil {
				t.Fatal(err)
			}
			if text := string(got.Append(nil)); got.Action != c.action || !strings.Contains(text, c.says) {
				t.Errorf("%s", text)
			}
		})
	}
}

func ExampleAll() {
	for _, e := range All()[:4] {
		fmt.Println(e.Registration.ID, e.Registration.Events, e.Registration.Priority, e.Registration.OnFailure)
	}
	// Output:
	// bash-validator [tool:pre] 1 deny
	// path-guard [tool:pre] 1 deny
	// redaction [tool:pre] 3 deny
	// production-guard [tool:pre] 5 deny
}
