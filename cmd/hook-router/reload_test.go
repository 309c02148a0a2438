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
	lines := make(lineWriter, 8)
	signals := make(chan os.Signal)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		f.watch(ctx, signals, slog.New(slog.NewTextHandler(lines, nil)))
	}()
	t.Cleanup(func() { cancel(); <-done })
	return func() string {
		t.Helper()
		signals <- syscall.SIGHUP
		select {
		case line := <-lines:
			return line
		case <-time.After(20 * time.Second):
			t.Fatal("the signal logs nothing")
			return ""
		}
	}
}

type lineWriter chan string

func (w lineWriter) Write(p []byte) (int, error) {
	w <- string(p)
	return len(p), nil
}
