package main

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/atomicfile"
	"github.com/hookrouter/hookrouter/pkg/approval"
)

// A signal puts changed rule files in force, all of them or none.
func TestASignalReloadsTheRuleFiles(t *testing.T) {
	dir := t.TempDir()
	f := &ruleFiles{approvalRules: filepath.Join(dir, "rules.yaml"), auditRedact: filepath.Join(dir, "redact.yaml"), pinned: filepath.Join(dir, "guards.yaml")}
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(f.approvalRules, "rules:\n  - decision: deny\n    tool: shell\n")
	write(f.auditRedact, "keys: [alpha]\n")
	write(f.pinned, "guards: [{id: old, events: ['tool:pre']}]\n")
	if err := f.load(); err != nil {
		t.Fatal(err)
	}
	guards, reload := f.guards, watchFiles(t, f)

	decides := func(want string) {
		t.Helper()
		if rule, _ := f.Match(approval.Facts{Hook: "hook", Tool: "shell", Prompt: "?"}); rule.Decision != want {
			t.Errorf("the rules decide %q, want %q", rule.Decision, want)
		}
	}
	masks := func(key string) {
		t.Helper()
		masked, n := f.masker().Object([]byte(`{"` + key + `":"value"}`))
		if n != 1 || strings.Contains(string(masked), "value") {
			t.Errorf("%s is not masked: %s", key, masked)
		}
	}
	pins := func(id string, want bool) {
		t.Helper()
		if got := guards.CheckRemoval(id) != nil; got != want {
			t.Errorf("%s is pinned: %v", id, got)
		}
	}
	decides("deny")
	masks("alpha")
	pins("old", true)

	write(f.pinned, "guards: [{id: new, events: ['tool:pre']}]\n")
	write(f.approvalRules, "rules:\n  - decision: allow\n    tool: shell\n")
	write(f.auditRedact, "keys: [beta]\n")
	if line := reload(); !strings.Contains(line, "reloaded") {
		t.Error(line)
	}
	decides("allow")
	masks("beta")
	pins("old", false)
	pins("new", true)

	write(f.pinned, "guards: []\n")
	write(f.approvalRules, "rules:\n  - decision: deny\n    tool: shell\n")
	write(f.auditRedact, "keys: 7\n")
	if line := reload(); !strings.Contains(line, "reload failed") || !strings.Contains(line, "redact.yaml:1:") {
		t.Error(line)
	}
	decides("allow")
	masks("beta")
	pins("new", true)
}

// A change of a file puts it in force without a signal; a file that is broken changes
// nothing, and the next one that is right counts.
func TestChangedRuleFilesAreReloaded(t *testing.T) {
	t.Parallel()
	f := &ruleFiles{approvalRules: filepath.Join(t.TempDir(), "rules.json")}
	write := func(text string) {
		t.Helper()
		if err := atomicfile.Write(f.approvalRules, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(`{"guard:production/*": "allow"}`)
	watcher := f.watched(slog.New(slog.DiscardHandler))
	if watcher == nil {
		t.Fatal("the file is not watched")
	}
	t.Cleanup(watcher.Close)
	if err := f.load(); err != nil {
		t.Fatal(err)
	}
	next := startWatch(t, f, watcher.Changed(), nil)
	for _, step := range []struct{ text, line, decision string }{
		{`{"guard:production/*": "deny"}`, "reloaded", "deny"},
		{`{"guard:production/*": "perhaps"}`, "reload failed", "deny"},
		{`{"guard:production/*": "allow"}`, "reloaded", "allow"},
	} {
		write(step.text)
		line := next()
		if rule, _ := f.Match(approval.Facts{Hook: "guard", Prompt: "production/a"}); !strings.Contains(line, step.line) || rule.Decision != step.decision {
			t.Errorf("after %s: %q, and the rule decides %q", step.text, line, rule.Decision)
		}
	}
}

func TestASignalWithoutFilesIsLogged(t *testing.T) {
	f := &ruleFiles{}
	if err := f.load(); err != nil {
		t.Fatal(err)
	}
	if line := watchFiles(t, f)(); !strings.Contains(line, "nothing to reload") {
		t.Error(line)
	}
	if f.masker() != nil {
		t.Error("without a file, records are masked by rules of it")
	}
}

// watchFiles watches the files; reload sends a signal and returns the line that it logs.
func watchFiles(t *testing.T, f *ruleFiles) (reload func() string) {
	t.Helper()
	signals := make(chan os.Signal)
	next := startWatch(t, f, nil, signals)
	return func() string {
		t.Helper()
		signals <- syscall.SIGHUP
		return next()
	}
}

// startWatch has the files reloaded; next returns the next line that this logs.
func startWatch(t *testing.T, f *ruleFiles, changed <-chan struct{}, signals <-chan os.Signal) (next func() string) {
	t.Helper()
	lines := make(lineWriter, 8)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		f.watch(ctx, changed, signals, slog.New(slog.NewTextHandler(lines, nil)))
	}()
	t.Cleanup(func() { cancel(); <-done })
	return func() string {
		t.Helper()
		select {
		case line := <-lines:
			return line
		case <-time.After(20 * time.Second):
			t.Fatal("nothing is logged")
			return ""
		}
	}
}

type lineWriter chan string

func (w lineWriter) Write(p []byte) (int, error) {
	w <- string(p)
	return len(p), nil
}
