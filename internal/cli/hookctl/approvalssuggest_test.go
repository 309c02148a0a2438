package hookctl_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/hookctl"
	"github.com/hookrouter/hookrouter/internal/testkit/clitest"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// commandsAsked serves a guard that asks about each command, and denies commands with rm.
func commandsAsked(f *clitest.Fixture) {
	f.Hook(chain.Registration{ID: "command-guard", Name: "Commands", Events: []string{"tool:pre"}}, func(_ context.Context, ev worker.Event) (worker.Result, error) {
		tool, _ := events.ToolOf(ev.Name, ev.Data)
		if strings.Contains(tool.Command, "rm ") {
			return chain.Denial("no rm"), nil
		}
		return chain.Question("Run this command?\n\n" + tool.Command), nil
	})
}

// answered has the guard ask about a command in a session, with more flags, and answers.
func answered(f *clitest.Fixture, session, command, option string, as ...string) {
	f.T.Helper()
	data, err := json.Marshal(map[string]any{"tool_name": "Bash", "cwd": "/repo", "tool_input": map[string]string{"command": command}})
	if err != nil {
		f.T.Fatal(err)
	}
	id := clitest.ApprovalID.FindString(f.Run(append(as, "execute", "tool:pre", "--session", session, "--no-wait", string(data))...).Stdout)
	if option == "" {
		return
	}
	if got := f.Run("approvals", "answer", id, option); got.Code != cli.ExitOK {
		f.T.Fatalf("%q: %+v", command, got)
	}
}

// Answers on a real router become a rule in shadow, which is added after the existing rules. The
// next run reports how it performed.
func TestAnswersBecomeARuleInShadow(t *testing.T) {
	t.Parallel()
	f := ruled(t, "rules: []")
	commandsAsked(f)
	for i, name := range []string{"a", "b", "c", "d"} {
		answered(f, fmt.Sprintf("s%d", i%2), "acme check conf/"+name+".yaml", "Allow")
		answered(f, fmt.Sprintf("s%d", i%2), "git push --force", "Allow")
		answered(f, fmt.Sprintf("s%d", i%2), "acme status; id", "Allow")
	}
	answered(f, "s1", "acme other", "Deny")
	answered(f, "s1", "acme rm x", "") // the guard denies it
	suggestion := f.Run("--text", "approvals", "suggest", "--unproven")
	for _, want := range []string{
		"13 approval requests since ", "13 answered by people\n", "1 rule would have answered 4 of 13 questions; contradicts 0 denials\n",
		"  allowed 4 times in 2 sessions by unauthenticated; 4 of 13 questions\n", "  mode: shadow", "command: \"acme check conf/*.yaml\"", "labels: {none: [\"*\"]}",
		"   4× acme status; id\n      it has quotes, variables, globs", "   4× git push --force\n      \"push\" may mean harm\n",
	} {
		if !strings.Contains(suggestion.Stdout, want) {
			t.Errorf("no %q in:\n%s%s", want, suggestion.Stdout, suggestion.Stderr)
		}
	}
	narrow(t, suggestion.Stdout)
	if got := f.Run("--text", "approvals", "suggest"); !strings.Contains(got.Stdout, "no rule is suggested") || !strings.Contains(got.Stdout, "not counted: answered by the sender") {
		t.Errorf("of nobody: %+v", got)
	}

	export := filepath.Join(t.TempDir(), "log.jsonl")
	f.Run("audit", "export", export, "--wait", "10ms")
	offline := f.Run("-s", "nats://127.0.0.1:1", "--text", "approvals", "suggest", "--unproven", "--export", export)
	if offline != suggestion {
		t.Errorf("from an export %+v\nwant %+v", offline, suggestion)
	}

	file := filepath.Join(t.TempDir(), "rules.yaml")
	const mine = "# of ours\nrules:\n  - {decision: deny, tool: Write} # never\n"
	if err := os.WriteFile(file, []byte(mine), 0o640); err != nil {
		t.Fatal(err)
	}
	if got := f.Run("--text", "approvals", "suggest", "--unproven", "--write", file); got.Code != cli.ExitOK || !strings.Contains(got.Stdout, "added to "+file) {
		t.Fatalf("%+v", got)
	}
	text, err := os.ReadFile(file)
	if err != nil || !strings.HasPrefix(string(text), mine) {
		t.Fatalf("%v\n%s", err, text)
	}
	if got := f.Run("--text", "approvals", "rules", file); got.Code != cli.ExitOK || !strings.Contains(got.Stdout, "tests, 0 failed") {
		t.Errorf("%+v", got)
	}
	if again := f.Run("--text", "approvals", "suggest", "--unproven", "--write", file); !strings.Contains(again.Stdout, "no rule is suggested") {
		t.Errorf("again: %+v", again)
	}

	tried := ruled(t, string(text))
	commandsAsked(tried)
	for i := range 3 {
		answered(tried, fmt.Sprintf("s%d", i), fmt.Sprintf("acme check conf/%d.yaml", i), "Allow")
	}
	answered(tried, "s1", "acme check conf/x.yaml", "Deny")
	answered(tried, "s1", "acme check conf/../x.yaml", "Allow")
	shadow := tried.Run("--text", "approvals", "suggest", "--unproven")
	for _, want := range []string{"no rule is suggested\n", "rules in shadow\n", "4      3       1          acme check conf/*.yaml: allow\n", `remove its line "mode: shadow"`} {
		if !strings.Contains(shadow.Stdout, want) {
			t.Errorf("no %q in:\n%s", want, shadow.Stdout)
		}
	}
	narrow(t, shadow.Stdout)
	var doc struct {
		Shadow []struct {
			Rule                         string
			Questions, Agreed, Disagreed int
		}
	}
	if got := tried.Run("approvals", "suggest", "--unproven"); json.Unmarshal([]byte(got.Stdout), &doc) != nil || len(doc.Shadow) != 1 || doc.Shadow[0].Agreed != 3 {
		t.Errorf("%+v", got)
	}
}

// With identities, the command reads the log with the keeper's credentials, and counts people's
// answers but not those of the agent's own identity.
func TestAnswersOfIdentities(t *testing.T) {
	t.Parallel()
	f, auth := withIdentities(t)
	commandsAsked(f)
	for i := range 4 {
		session := fmt.Sprintf("s%d", i)
		answered(f, session, "acme status --own", "Allow") // admin both asks and answers
		answered(f, session, "acme status --web", "Allow", "--creds", filepath.Join(auth, "creds", "agent.creds"))
	}
	got := f.Run("--text", "approvals", "suggest", "--unproven")
	for _, want := range []string{"    4 not counted: answered by the sender, by an agent, or without a proven identity\n", "1 rule would have answered 4 of 8 questions", `emitter: {id: "nats agent/agent"}`} {
		if !strings.Contains(got.Stdout, want) {
			t.Errorf("no %q in:\n%s%s", want, got.Stdout, got.Stderr)
		}
	}
}

// narrow fails for lines of more than 80 columns.
func narrow(t *testing.T, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		if utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) > 80 {
			t.Errorf("%q has more than 80 columns", line)
		}
	}
}

func TestSuggestRefusesOptions(t *testing.T) {
	t.Parallel()
	f := &clitest.Fixture{T: t, Hookctl: hookctl.Run, Env: map[string]string{"NATS_URL": "nats://127.0.0.1:1"}}
	broken := filepath.Join(t.TempDir(), "rules.yaml")
	if err := os.WriteFile(broken, []byte("rules:\n  - decision: maybe\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		"use --min from 2 on":   {"--min", "1"},
		"must be allow or deny": {"--write", broken},
		"read the export":       {"--export", broken + "x"},
		"a duration is needed":  {"--last", "x"},
	} {
		if got := f.Run(append([]string{"approvals", "suggest"}, args...)...); got.Code != cli.ExitLocal || !strings.Contains(got.Stderr, want) {
			t.Errorf("%v: %+v; want %q", args, got, want)
		}
	}
}
