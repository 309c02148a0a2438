package hookctl_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/hookctl"
	"github.com/hookrouter/hookrouter/internal/testkit/clibus"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// A second installation has a log of the same name, signed with another key.
func TestAuditPinsAreThoseOfAKey(t *testing.T) {
	t.Parallel()
	first, second := clibus.NewAudit(t, hookctl.Run), clibus.NewAudit(t, hookctl.Run)
	second.Keys = clibus.NewKey(t, 9, "hook-router")
	second.Env["XDG_STATE_HOME"] = first.Env["XDG_STATE_HOME"]
	first.Fill(3)
	second.Fill(2)
	first.Announce(first.Keys.Text)
	second.Announce(second.Keys.Text)
	for i, want := range []audit.Verdict{audit.OKUnanchored, audit.OKPinned} {
		v, _ := verdictOf(first)
		if v.Verdict != want {
			t.Errorf("%d: the first: %+v", i, v)
		}
		v, _ = verdictOf(second)
		if v.Verdict != want {
			t.Errorf("%d: the second: %+v", i, v)
		}
		if told := len(v.Parts[0].Notes) > 0 && strings.Contains(v.Parts[0].Notes[0], "another log of this name"); told != (i == 0) {
			t.Errorf("%d: the second has the notes %q", i, v.Parts[0].Notes)
		}
	}
	file := export(first, 1)
	if v, _ := verdictOf(first, file, "--key", first.Keys.Text); v.Verdict != audit.OKPinned {
		t.Errorf("an export of the first, with its key: %+v", v)
	}
	// Without a key an export's own word finds the pin, with which it is verified.
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]string{"a file": {file}, "the standard input": {"-"}} {
		got := first.With(cli.Process{Stdin: bytes.NewReader(text)}, append([]string{"audit", "verify", "--text", "--wide"}, args...)...)
		if got.Code != audit.OKPinned.ExitCode() || !strings.Contains(got.Stdout, "2 logs of this name were verified before; this one names the key hook-router+") || !strings.Contains(got.Stdout, "size 3 before, 3 now") {
			t.Errorf("%s without a key: %+v", name, got)
		}
	}
	edited := filepath.Join(t.TempDir(), "edited.jsonl")
	if err := os.WriteFile(edited, bytes.Replace(text, []byte("budget"), []byte("BUDGET"), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	if v, _ := verdictOf(first, edited); v.Verdict.OK() {
		t.Errorf("an edited export without a key: %+v", v)
	}
	third := clibus.NewAudit(t, hookctl.Run)
	third.Keys = clibus.NewKey(t, 7, "hook-router")
	third.Fill(1)
	if got := first.Run("audit", "verify", export(third, 1)); got.Code != cli.ExitLocal || !strings.Contains(got.Stderr, "none has a key that this one names, hook-router+") {
		t.Errorf("an export of a third one: %+v", got)
	}
	// The one that was pinned, cut off: its key finds the pin.
	cut := clibus.NewAudit(t, hookctl.Run)
	cut.Env["XDG_STATE_HOME"] = first.Env["XDG_STATE_HOME"]
	cut.Fill(1)
	cut.Announce(cut.Keys.Text)
	if v, _ := verdictOf(cut); v.Verdict.OK() {
		t.Errorf("a log with the key of the first, cut off: %+v", v)
	}
}
