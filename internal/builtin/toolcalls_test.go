package builtin_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/guards/approvalpolicy"
	"github.com/hookrouter/hookrouter/internal/guards/commandguard"
	"github.com/hookrouter/hookrouter/internal/guards/decision"
	"github.com/hookrouter/hookrouter/internal/guards/pathguard"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// TestGuardsSeeTheWholeCall: what a call holds beside, within and behind its name is
// judged by each guard.
func TestGuardsSeeTheWholeCall(t *testing.T) {
	t.Parallel()
	command, path, policy := guards(t)
	const denied, asked = chain.Deny, chain.AskUser
	for data, want := range map[string][3]chain.Action{ // of command-guard, path-guard, approval-policy
		`{"tool_name":"mcp__host__run","tool_input":{"command":"rm","args":["-rf","/"]}}`:                                                               {denied, asked, ""},
		`{"tool_name":"mcp__host__run","tool_input":{"command":"bash","args":["-c","rm -rf /"]}}`:                                                       {denied, asked, ""},
		`{"tool_name":"mcp__host__run","tool_input":{"command":"sudo bash","args":["-c","rm -rf /"]}}`:                                                  {denied, asked, ""},
		`{"tool_name":"Bash","tool_input":{"command":"terraform","args":["destroy"]}}`:                                                                  {asked, "", denied},
		`{"tool_name":"Bash","tool_input":{"command":"git","args":["status"]}}`:                                                                         {"", "", ""},
		`{"tool":"batch","args":{"tool_calls":[{"tool":"bash","parameters":{"command":"ls"}},{"tool":"bash","parameters":{"command":"rm -rf /"}}]}}`:    {denied, asked, ""},
		`{"tool":"batch","args":{"tool_calls":[{"tool":"read","parameters":{"filePath":"/home/bob/.ssh/id_rsa"}}]}}`:                                    {"", denied, ""},
		`{"tool":"batch","args":{"tool_calls":[{"tool":"webfetch","parameters":{"url":"https://x"}}]}}`:                                                 {"", "", denied},
		`{"tool":"batch","args":{"tool_calls":[{"tool":"read","parameters":{"filePath":"/repo/a"}},{"tool":"bash","parameters":{"command":"ls"}}]}}`:    {"", "", ""},
		`{"tool":"batch","args":{"tool_calls":"[]"}}`:                                                                                                   {asked, asked, asked},
		`{"tool":"batch","args":{"tool_calls":[7,{"tool":"bash","parameters":{"command":"terraform destroy"}}]}}`:                                       {asked, asked, denied},
		`{"tool_name":"multi_tool_use.parallel","tool_input":{"tool_uses":[{"recipient_name":"functions.shell","parameters":{"command":"rm -rf /"}}]}}`: {denied, asked, ""},
		`{"tool_name":"mcp__hub__call","tool_input":{"tool_name":"bash","arguments":{"command":"rm -rf /"}}}`:                                           {denied, asked, ""},
		`{"call":{"tool":{"name":"Bash"}}}`: {asked, asked, asked},
		`{"tool_name":"mcp__playwright__browser_navigate","tool_input":{"url":"file:///home/bob/.ssh/id_rsa"}}`: {"", denied, ""},
		`{"tool_name":"mcp__playwright__browser_navigate","tool_input":{"url":"file:///repo/index.html"}}`:      {"", "", ""},
		`{"tool_name":"Read","tool_input":{"path":"File:///home/bob/%2essh/id_rsa"}}`:                           {"", denied, ""},
		`{"tool_name":"mcp__n8n__create","tool_input":{"name":"x","arguments":{"a":1},"calls":[{"to":"Eve"}]}}`: {"", "", ""},
	} {
		for i, guard := range []kind.Hook{command, path, policy} {
			got, err := guard.Handler(t.Context(), events.Event{Name: events.ToolPre, Data: json.RawMessage(data)})
			if err != nil || got.Action != want[i] {
				t.Errorf("guard %d, %s: %q (%s), %v; want %q", i, data, got.Action, got.Reason, err, want[i])
			}
		}
	}
}

// guards are the three that judge tool calls; the policy denies a command and the web, and
// allows the rest.
func guards(t *testing.T) (command, path, policy kind.Hook) {
	t.Helper()
	var err error
	if command, err = commandguard.New(kind.Section{}, commandguard.Options{}); err != nil {
		t.Fatal(err)
	}
	if path, err = pathguard.New(kind.Section{}, pathguard.Options{}); err != nil {
		t.Fatal(err)
	}
	policy, err = approvalpolicy.New(kind.Section{}, approvalpolicy.Options{Default: decision.Allow, Rules: []approvalpolicy.Rule{
		{Commands: []string{"terraform destroy"}, Decision: decision.Deny}, {Tools: []string{"web"}, Decision: decision.Deny},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return command, path, policy
}

// batch is a call that holds calls of a shell.
func batch(t *testing.T, commands ...string) events.Event {
	t.Helper()
	calls := make([]string, len(commands))
	for i, c := range commands {
		calls[i] = fmt.Sprintf(`{"tool":"bash","parameters":{"command":%q}}`, c)
	}
	return events.Event{Name: events.ToolPre, Data: json.RawMessage(`{"tool":"batch","args":{"tool_calls":[` + strings.Join(calls, ",") + `]}}`)}
}

// TestAPersonSeesEachCall: one answer is for all calls of a call, so one approval request has all
// that is asked about, or the call is denied.
func TestAPersonSeesEachCall(t *testing.T) {
	t.Parallel()
	command, _, _ := guards(t)
	got, err := command.Handler(t.Context(), batch(t, "git reset --hard", "ls", "terraform destroy"))
	if err != nil || got.Action != chain.AskUser || !strings.Contains(got.ApprovalPrompt, "git reset --hard") || !strings.Contains(got.ApprovalPrompt, "terraform destroy") {
		t.Errorf("%+v, %v", got, err)
	}
	many := make([]string, 100)
	for i := range many {
		many[i] = fmt.Sprintf("terraform destroy # %d %s", i, strings.Repeat("x", 500))
	}
	if got, err := command.Handler(t.Context(), batch(t, many...)); err != nil || got.Action != chain.Deny || !strings.Contains(got.Reason, "one by one") {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestQuestionsWithOtherAnswersAreOne: a person is offered nothing that is meant for one
// of two approval requests only.
func TestQuestionsWithOtherAnswersAreOne(t *testing.T) {
	t.Parallel()
	always := approvalpolicy.Rule{Commands: []string{"ls"}, Decision: decision.Ask, Choices: []string{"Allow always", "Deny"}}
	policy, err := approvalpolicy.New(kind.Section{}, approvalpolicy.Options{Rules: []approvalpolicy.Rule{{Tools: []string{"batch"}, Decision: decision.Allow}, always}})
	if err != nil {
		t.Fatal(err)
	}
	for n, commands := range map[int][]string{2: {"ls", "ls -l"}, 0: {"ls", "make"}} {
		if got, err := policy.Handler(t.Context(), batch(t, commands...)); err != nil || got.Action != chain.AskUser || len(got.ApprovalOptions) != n {
			t.Errorf("%v: %+v, %v; want %d options", commands, got, err, n)
		}
	}
}
