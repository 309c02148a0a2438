package hookctl_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/hookctl"
	"github.com/hookrouter/hookrouter/internal/testkit/clibus"
	"github.com/hookrouter/hookrouter/internal/testkit/clitest"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// Values that make tables wide.
const (
	session   = "3f2504e0-4f89-41d3-9a0c-0305e82c3301"
	longHook  = "production-deployment-guard-frankfurt"
	longMatch = "data.tool_name == 'Bash' && data.tool_input.command.contains('deploy') && session_id != 'trusted'"
	longText  = "Deploying to production from a laptop is not for agents, see https://wiki.example.org/operations/deployments/laptops?section=agents"
	longData  = `{"tool_name":"Bash","tool_input":{"command":"make deploy REGION=eu-central-1 IMAGE=registry.example.org/shop"}}`
)

// wide returns a bus on which all names are long, and the id of an open approval request.
func wide(t *testing.T) (f *clitest.Fixture, question, chainID string) {
	t.Helper()
	dir := t.TempDir()
	f = clibus.New(t, hookctl.Run)
	f.Env["HOME"], f.Env["XDG_STATE_HOME"], f.Env["HOOK_ROUTER_AUTH_DIR"] = dir, dir, dir+"/auth"
	asking := chain.Question(longText+"?", "Allow once", "Allow always", "Deny")
	asking.Reason = longText
	injecting := chain.Injection(longText)
	injecting.UserMessage = longText
	f.Hook(chain.Registration{ID: longHook, Events: []string{"tool:pre", "tool:post", "prompt:submit", "session:start"}, Match: longMatch, OnFailure: chain.FailClosed}, clitest.Answering(asking))
	f.Hook(chain.Registration{ID: "a-hook-of-one-session-and-of-a-long-name", Events: []string{"*"}, SessionID: session, Mode: chain.Shadow}, clitest.Answering(chain.Denial(longText)))
	f.Hook(chain.Registration{ID: "context-of-the-operations-handbook", Events: []string{"prompt:submit"}}, clitest.Answering(injecting))
	f.Hook(chain.Registration{ID: "denies-what-is-not-for-agents-at-all", Events: []string{"tool:error"}}, clitest.Answering(chain.Denial(longText)))
	f.Run("execute", "prompt:submit", `{"prompt":"deploy"}`, "--session", session)
	f.Run("execute", "tool:pre", longData, "--session", session, "--no-wait")
	f.Run("approvals", "answer", clitest.ApprovalID.FindString(f.Run("approvals").Stdout), "Allow always", "--note", longText, "--by", "the person on call")
	var told struct {
		ChainID string `json:"chain_id"`
	}
	if err := json.Unmarshal([]byte(f.Run("execute", "tool:error", longData, "--session", session).Stdout), &told); err != nil {
		t.Fatal(err)
	}
	for range 3 { // enough for approvals suggest
		f.Run("execute", "tool:pre", `{"tool_name":"Bash","tool_input":{"command":"acme status --region eu-central-1 --of deployments.frankfurt.example.org"}}`, "--no-wait")
		f.Run("approvals", "answer", clitest.ApprovalID.FindString(f.Run("approvals").Stdout), "Allow once")
	}
	f.Run("execute", "tool:pre", longData, "--session", "one-of-"+session, "--no-wait")
	f.Run("guard", "pin", "a-guard-that-nobody-registered-so-far", "--event", "delegate:agent_spawned", "--match", longMatch)
	f.Run("freeze", "--session", "another-"+session, "--reason", longText)
	f.Run("auth", "init")
	f.Run("auth", "add", "worker", "worker-of-the-deployments", "--hook", longHook, "--event", "tool:*", "--priority", "-100..100", "--may", "nothing")
	transcript, err := os.ReadFile(filepath.Join("..", "..", "transcript", "testdata", "claude.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	scanned := filepath.Join(".claude", "projects", "-home-ann-a-project-with-a-long-name-for-the-shop")
	if err := os.MkdirAll(filepath.Join(dir, scanned), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		filepath.Join(scanned, session+".jsonl"): string(transcript),
		"older.yaml":                             "hooks:\n  - {id: " + longHook + ", events: [\"tool:error\"], cel: {rules: [{when: \"false\", deny: x}]}}\n",
		"newer.yaml":                             "hooks:\n  - {id: " + longHook + ", events: [\"tool:error\"], cel: {rules: [{deny: \"" + longText + "\"}]}}\n",
		"rules.yaml":                             "rules:\n  - {name: deployments of the staging cluster in Frankfurt, hook: " + longHook + ", tool: Bash, prompt: \"" + longText + "*\", decision: allow}\n",
		"worker.yaml":                            "hooks:\n  - {id: " + longHook + ", events: [\"deploy:start\"], cel: {rules: [{deny: \"" + longText + "\"}]}}\ntests:\n  - {name: \"" + longText + "\", event: \"deploy:start\", expect: {action: deny}}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return f, clitest.ApprovalID.FindString(f.Run("approvals").Stdout), told.ChainID
}

// TestTablesFit80Columns runs each command that prints tables or lines about things with long
// names.
func TestTablesFit80Columns(t *testing.T) {
	t.Parallel()
	f, question, chainID := wide(t)
	dir := f.Env["HOME"]
	f.Env["HOOKCTL_FORMAT"] = ""
	for _, args := range [][]string{
		{"handlers"},
		{"registry"},
		{"explain", "tool:pre", longData, "--session", session},
		{"explain", "prompt:submit"},
		{"guard"},
		{"freeze"},
		{"auth", "list"},
		{"connect"},
		{"scan"},
		{"approvals", "suggest", "--unproven", "--min", "2"},
		{"policy", "diff", "--alone", dir + "/older.yaml", dir + "/newer.yaml"},
		{"events"},
		{"events", "tool:pre"},
		{"approvals"},
		{"approvals", "show", question},
		{"approvals", "rules", dir + "/rules.yaml"},
		{"session", "show", session},
		{"execute", "tool:error", longData},
		{"emit", "tool:error", longData},
		{"emit", "prompt:submit", "{}"},
		{"execute", "prompt:submit", `{"prompt":"x"}`, "--session", session},
		{"collect", "prompt:submit"},
		{"why"},
		{"why", question},
		{"why", session},
		{"trace", chainID},
		{"trace", session},
		{"coverage"},
		{"audit", "tail", "-n", "100"},
		{"audit", "query", "--session", session},
		{"audit", "show", chainID},
		{"audit", "show", question},
		{"audit", "stats"},
		{"audit", "replay"},
		{"audit", "replay", "--worker", dir + "/worker.yaml"},
		{"audit", "bootstrap", "--check"},
		{"version"},
	} {
		fits(f, args...)
	}
	signed := clibus.NewAudit(t, hookctl.Run)
	signed.Env["HOOKCTL_FORMAT"] = ""
	signed.Fill(3)
	for _, args := range [][]string{{"audit", "verify", "--key", signed.Keys.Text}, {"audit", "stats"}, {"audit", "tail"}, {"audit", "show", "chain-1"}, {"trace", "chain-1"}} {
		fits(signed.Fixture, args...)
	}
}

// fits runs a command and checks the width of its output. Commands to type and paths to copy stay
// whole, and so do prompts that somebody must judge.
func fits(f *clitest.Fixture, args ...string) {
	f.T.Helper()
	name := strings.Join(args[:min(2, len(args))], " ")
	got := f.With(cli.Process{Terminal: true}, args...)
	if strings.TrimSpace(got.Stdout) == "" {
		f.T.Errorf("%s printed nothing: %+v", name, got)
	}
	for line := range strings.Lines(got.Stdout) {
		text := strings.TrimSpace(ansi.Strip(line))
		if width := ansi.StringWidth(line); width > 80 && !strings.HasPrefix(text, "hookctl ") && !strings.HasPrefix(text, "/") && text != longText+"?" {
			f.T.Errorf("%s: %d columns: %s", name, width, line)
		}
	}
	if wide := f.With(cli.Process{Terminal: true}, append(args, "--wide")...).Stdout; strings.Count(wide, "\n") > strings.Count(got.Stdout, "\n") {
		f.T.Errorf("%s --wide has more lines than without:\n%s", name, wide)
	}
}
