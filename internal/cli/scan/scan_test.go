package scan_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/scan"
	"github.com/hookrouter/hookrouter/internal/testkit/clitest"
)

// hookctl runs the commands of this package.
func hookctl(ctx context.Context, args []string, p cli.Process) int {
	return cli.Run(ctx, args, p, &struct {
		Scan scan.Cmd `cmd:""`
	}{})
}

// home returns a home directory with transcripts of both agents, and hookctl in it, without a
// router.
func home(t *testing.T) (string, *clitest.Fixture) {
	t.Helper()
	dir := t.TempDir()
	for name, to := range map[string]string{
		"claude.jsonl": ".claude/projects/-home-ann-shop/c1.jsonl", "codex.jsonl": ".codex/sessions/2026/10/07/rollout-x1.jsonl", "codex-old.jsonl": ".codex/sessions/rollout-x0.jsonl",
	} {
		text, err := os.ReadFile(filepath.Join("..", "..", "transcript", "testdata", name))
		path := filepath.Join(dir, to)
		if err := errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, text, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return dir, &clitest.Fixture{T: t, Hookctl: hookctl, Env: map[string]string{"HOOKCTL_FORMAT": "json", "HOME": dir, "NATS_URL": "nats://127.0.0.1:1"}}
}

type report struct {
	Files, Lines, Skipped, Calls, Denied, Asked, Changed, Passed, Undecided, Days int
	QuestionsPerDay                                                               float64        `json:"questions_per_day"`
	Sessions                                                                      map[string]int `json:"sessions"`
	Findings                                                                      []struct {
		Action, Hook, Reason, Tool, Example string
		Count                               int
	}
}

func scanned(t *testing.T, f *clitest.Fixture, args ...string) report {
	t.Helper()
	got := f.Run(append([]string{"scan"}, args...)...)
	var r report
	if err := json.Unmarshal([]byte(got.Stdout), &r); err != nil || got.Code != cli.ExitOK {
		t.Fatalf("%+v: %v", got, err)
	}
	return r
}

// Calls that occur twice in a file are counted once.
func TestScan(t *testing.T) {
	t.Parallel()
	_, f := home(t)
	r := scanned(t, f)
	if r.Calls != 8 || r.Denied != 4 || r.Asked != 1 || r.Passed != 3 || r.Changed != 2 || r.Skipped != 1 || r.Undecided != 0 || r.Files != 3 {
		t.Errorf("%+v", r)
	}
	if r.Days != 3 || r.QuestionsPerDay < 0.33 || r.QuestionsPerDay > 0.34 || r.Sessions["claude-code"] != 1 || r.Sessions["codex"] != 2 {
		t.Errorf("%d days, %v questions a day, sessions %v", r.Days, r.QuestionsPerDay, r.Sessions)
	}
	if since := scanned(t, f, "--since", "2026-10-07T00:00:00Z"); since.Calls != 3 || since.Files != 3 {
		t.Errorf("since a day: %+v", since)
	}
	if elsewhere := scanned(t, f, "--dir", filepath.Join(f.Env["HOME"], ".codex")); elsewhere.Calls != 4 || elsewhere.Files != 2 {
		t.Errorf("in another directory: %+v", elsewhere)
	}
}

// Hooks with side effects are not called.
func TestScanHasAPolicyOfOnesOwn(t *testing.T) {
	t.Parallel()
	dir, f := home(t)
	policy := filepath.Join(dir, "policy.yaml")
	text := "hooks:\n  - {id: none, events: [\"tool:pre\"], match: tool.class == 'file', cel: {rules: [{deny: no files}]}}\n" +
		"  - {id: acts, events: [\"tool:pre\"], match: tool.name == 'shell', exec: {command: [touch, " + filepath.Join(dir, "made") + "]}}\n"
	if err := os.WriteFile(policy, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := scanned(t, f, "--policy", policy); r.Denied != 2 || r.Asked != 0 || r.Undecided != 1 {
		t.Errorf("%+v", r)
	}
	if _, err := os.Stat(filepath.Join(dir, "made")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a hook that acts was called: %v", err)
	}
}

// The screen has 80 columns, and no secrets.
func TestTheScreen(t *testing.T) {
	t.Parallel()
	_, f := home(t)
	f.Env["TZ"] = "UTC"
	got := f.Run("scan", "--text")
	if got.Code != cli.ExitOK {
		t.Fatalf("%+v", got)
	}
	for line := range strings.Lines(got.Stdout) {
		if utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) > 80 {
			t.Errorf("%q has more than 80 columns", line)
		}
	}
	for _, want := range []string{
		"1 session of claude-code, 2 sessions of codex, 2026-10-05 to 2026-10-07", "8  tool calls", "4  would have been denied", "1  would have been asked about: 0.3 a day, at most 1",
		"command-guard: Command denied: it removes directories of the system", "Bash  rm -rf ~/", "1 line could not be read and was skipped", "Nothing was changed or sent.",
	} {
		if !strings.Contains(got.Stdout, want) {
			t.Errorf("no %q in:\n%s", want, got.Stdout)
		}
	}
	for _, secret := range []string{"ghp_", "AKIA"} {
		if strings.Contains(got.Stdout, secret) || strings.Contains(f.Run("scan").Stdout, secret) {
			t.Errorf("a secret is shown: %s", secret)
		}
	}
}

// Secrets in examples are masked too.
func TestSecretsInCommandsAreMasked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	line := `{"type":"function_call","name":"shell","arguments":"{\"command\":\"frobnicate --password=hunter2hunter2 ghp_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789\"}"}`
	if err := os.WriteFile(filepath.Join(dir, "a.jsonl"), []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	f := &clitest.Fixture{T: t, Hookctl: hookctl}
	got := f.Run("scan", "--dir", dir)
	if !strings.Contains(got.Stdout, "frobnicate") || strings.Contains(got.Stdout, "hunter2") || strings.Contains(got.Stdout, "ghp_") {
		t.Errorf("%s", got.Stdout)
	}
}

func TestNoTranscripts(t *testing.T) {
	t.Parallel()
	f := &clitest.Fixture{T: t, Hookctl: hookctl, Env: map[string]string{"HOME": t.TempDir()}}
	if got := f.Run("scan"); got.Code != cli.ExitLocal || !strings.Contains(got.Stderr, ".claude/projects or ") || !strings.Contains(got.Stderr, "--dir reads others") {
		t.Errorf("%+v", got)
	}
}
