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

// A second installation has a log with the same name, signed with another key.
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
	// Without a key, the export's own claim finds the pin, whose key verifies it.
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
	// A receipt names which of the two logs it is from.
	receipt := filepath.Join(t.TempDir(), "receipt.json")
	if got := second.Run("audit", "prove", "1:0", "-o", receipt, "--wait", "200ms"); got.Code != cli.ExitOK {
		t.Fatal(got)
	}
	got := first.Run("audit", "check", receipt, "--json")
	if !strings.Contains(got.Stdout, second.Keys.Text) || strings.Contains(got.Stdout, first.Keys.Text) {
		t.Errorf("a receipt of the second: %+v", got)
	}
	if got := first.Run("audit", "check", receipt, "--text", "--wide"); !strings.Contains(got.Stdout, "of the log that was verified in nats://") || !strings.Contains(got.Stdout, "on trust") {
		t.Errorf("a receipt of the second: %+v", got)
	}
	// The pinned log, cut off: its key finds the pin.
	cut := clibus.NewAudit(t, hookctl.Run)
	cut.Env["XDG_STATE_HOME"] = first.Env["XDG_STATE_HOME"]
	cut.Fill(1)
	cut.Announce(cut.Keys.Text)
	if v, _ := verdictOf(cut); v.Verdict.OK() {
		t.Errorf("a log with the key of the first, cut off: %+v", v)
	}
}

// Another log at the address of a verified one, whose routers announce another key, is not taken
// for a second installation.
func TestAuditLogReplacedAtItsAddress(t *testing.T) {
	t.Parallel()
	first, second := clibus.NewAudit(t, hookctl.Run), clibus.NewAudit(t, hookctl.Run)
	second.Keys = clibus.NewKey(t, 9, "hook-router")
	first.Fill(3)
	second.Fill(3)
	first.Announce(first.Keys.Text)
	second.Announce(second.Keys.Text)
	verdictOf(first)
	verdictOf(second)
	address := func(b *clibus.AuditFixture) (path, pin, in string) {
		path = filepath.Join(b.Env["XDG_STATE_HOME"], "hookctl", "audit", "hooks__HOOKS_AUDIT.json")
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, after, _ := strings.Cut(string(text), `"verified_in": "`)
		in, _, _ = strings.Cut(after, `"`)
		return path, string(text), in
	}
	path, pin, old := address(first)
	_, _, replaced := address(second)
	if old == replaced || replaced == "" {
		t.Fatalf("the logs are at %q and %q", old, replaced)
	}
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(pin, old, replaced)), 0o600); err != nil {
		t.Fatal(err)
	}
	second.Env["XDG_STATE_HOME"] = first.Env["XDG_STATE_HOME"]
	for range 2 {
		v, got := verdictOf(second, "--require", "any")
		if v.Verdict != audit.Diverged {
			t.Errorf("%+v", got)
		}
		if len(v.Parts[0].Notes) != 1 || !strings.Contains(v.Parts[0].Notes[0], "give the key with --key") {
			t.Errorf("notes %q", v.Parts[0].Notes)
		}
	}
	for _, c := range []struct {
		args []string
		want audit.Verdict
	}{{[]string{"--key", second.Keys.Text}, audit.OKUnanchored}, {nil, audit.OKPinned}} {
		if v, _ := verdictOf(second, c.args...); v.Verdict != c.want {
			t.Errorf("%q: %+v", c.args, v)
		}
	}
}
