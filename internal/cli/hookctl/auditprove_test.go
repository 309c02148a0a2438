package hookctl_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/cli"
	auditcli "github.com/hookrouter/hookrouter/internal/cli/audit"
	"github.com/hookrouter/hookrouter/internal/cli/hookctl"
	"github.com/hookrouter/hookrouter/internal/testkit/clibus"
	"github.com/hookrouter/hookrouter/internal/testkit/clitest"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

func TestAuditReceiptsProveOneRecord(t *testing.T) {
	t.Parallel()
	f := clibus.NewAudit(t, hookctl.Run)
	f.Fill(3)
	f.Turn()
	f.Fill(2)
	f.Cosign(clibus.NewKey(t, 2, "a"))
	file, dir := export(f, 1), t.TempDir()
	for args, want := range map[string]auditcli.Checked{
		"2:3":                              {Origin: "hooks/HOOKS_AUDIT", Seq: 2, Position: 3, Size: 3},
		"2/1:1":                            {Origin: "hooks/HOOKS_AUDIT_2", Seq: 1, Position: 1, Size: 2},
		"3":                                {Origin: "hooks/HOOKS_AUDIT", Seq: 3, Size: 3},
		"3:2 --export " + file:             {Origin: "hooks/HOOKS_AUDIT", Seq: 3, Position: 2, Size: 3},
		"--chain chain-2":                  {Origin: "hooks/HOOKS_AUDIT", Seq: 3, Position: 5, Size: 3},
		"--chain chain-1 --export " + file: {Origin: "hooks/HOOKS_AUDIT", Seq: 2, Position: 5, Size: 3},
	} {
		receipt := filepath.Join(dir, "receipt.json")
		if got := f.Run(append([]string{"audit", "prove", "-o", receipt}, strings.Fields(args)...)...); got.Code != cli.ExitOK {
			t.Errorf("prove %s: %+v", args, got)
			continue
		}
		offline := map[string]string{"HOOKCTL_FORMAT": "json"}
		got := (&clitest.Fixture{T: t, Hookctl: hookctl.Run, Env: offline}).Run("audit", "check", receipt, "--key", f.Keys.Text, "--witness", clibus.NewKey(t, 2, "a").Text)
		var x auditcli.Checked
		if err := json.Unmarshal([]byte(got.Stdout), &x); err != nil || got.Code != cli.ExitOK {
			t.Fatalf("check %s: %v %+v", args, err, got)
		}
		if !x.Proved || x.Origin != want.Origin || x.Seq != want.Seq || x.Position != want.Position || x.Size != want.Size || x.Witnessed != (x.Origin != "hooks/HOOKS_AUDIT") {
			t.Errorf("%s: %+v", args, x)
		}
		if text, _ := os.ReadFile(receipt); strings.Count(string(text), "chain_id") != 1 {
			t.Errorf("%s: the receipt shows other records: %s", args, text)
		}
	}
}

func TestAuditProveSaysWhatItCannotProve(t *testing.T) {
	t.Parallel()
	f := clibus.NewAudit(t, hookctl.Run)
	f.Fill(2)
	f.Write(clibus.ChainOf("open", "s", clibus.Began)...)
	file := exportUncovered(f)
	for args, want := range map[string]string{
		"3:0 --wait 50ms":            "covers messages 1 to 2",
		"3:0 --export " + file:       "covers messages 1 to 2",
		"9:0 --wait 50ms":            "covers messages 1 to 2",
		"1:9 --wait 50ms":            "positions count from 0",
		"7/1:0":                      "no segment 7",
		"x":                          `read place "x"`,
		"0:0":                        "read place",
		"1:-1":                       "read place",
		"0/1:1":                      "read place",
		"":                           "prove which record",
		"1:0 --chain a":              "prove which record",
		"--chain absent":             "prove chain absent: the audit log has nothing on it",
		"1:0 --export /absent":       "no such file",
		"--chain a --export " + file: "its result is not in the export",
	} {
		got := f.Run(append([]string{"audit", "prove"}, strings.Fields(args)...)...)
		if got.Code != cli.ExitLocal || !strings.Contains(got.Stderr, want) || got.Stdout != "" {
			t.Errorf("%s: %+v", args, got)
		}
	}
}

// exportUncovered exports a log whose last message is not covered by a checkpoint.
func exportUncovered(f *clibus.AuditFixture) string {
	f.T.Helper()
	file := filepath.Join(f.T.TempDir(), "export.jsonl")
	if got := f.Run("audit", "export", file, "--wait", "50ms"); got.Code != cli.ExitLocal {
		f.T.Fatal(got)
	}
	return file
}

func TestAuditCheckRefusesWhatIsNotProved(t *testing.T) {
	t.Parallel()
	f := clibus.NewAudit(t, hookctl.Run)
	f.Fill(2)
	good := f.Run("audit", "prove", "1:3", "--json").Stdout
	altered := func(change func(r *audit.Receipt)) string {
		r, err := audit.ParseReceipt([]byte(good))
		if err != nil {
			t.Fatal(err)
		}
		change(&r)
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	other := clibus.NewKey(t, 5, "hook-router")
	file := filepath.Join(t.TempDir(), "receipt.json")
	for name, c := range map[string]struct{ text, key, want string }{
		"another record":     {strings.Replace(good, "rm is not for agents", "rm is fine for agents", 1), "", "this record does not stand at its place"},
		"another place":      {altered(func(r *audit.Receipt) { r.Position++ }), "", "this record does not stand at its place"},
		"another message":    {altered(func(r *audit.Receipt) { r.Seq++ }), "", "this record does not stand at its place"},
		"outside":            {altered(func(r *audit.Receipt) { r.Seq = 1 << 40 }), "", "outside"},
		"no siblings":        {altered(func(r *audit.Receipt) { r.Siblings = nil }), "", "outside"},
		"another key":        {good, other.Text, "no known router's key"},
		"no checkpoint":      {altered(func(r *audit.Receipt) { r.Checkpoint = "" }), "", "no signed checkpoint"},
		"a record before it": {strings.Replace(good, `"line":`, `"LINE":"forged","line":`, 1), "", "parse receipt"},
		"something put in":   {strings.Replace(good, `"line":`, `"approved_by":"boss","line":`, 1), "", "parse receipt"},
		"cut off":            {good[:len(good)/2], "", "parse receipt"},
		"nothing":            {"", "", "parse receipt"},
		"something else":     {`{"a":1}`, "", "not a receipt"},
		"an escape sequence": {`{"hookrouter_audit_receipt":1,"line":"\u001b[2J"}`, "", ""},
	} {
		key := f.Keys.Text
		if c.key != "" {
			key = c.key
		}
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, form := range []string{"--text", "--json"} {
			got := f.Run("audit", "check", file, "--key", key, form)
			if got.Code != 40 || !strings.Contains(got.Stdout, c.want) || strings.Contains(got.Stdout, "\x1b") || strings.Contains(got.Stdout, "PROVED  the record") {
				t.Errorf("%s: %+v", name, got)
			}
		}
	}
	if got := f.Run("audit", "check", "/absent", "--key", f.Keys.Text); got.Code != cli.ExitLocal {
		t.Errorf("no file: %+v", got)
	}
	if err := os.WriteFile(file, []byte(good), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := f.Run("audit", "check", file); got.Code != cli.ExitLocal || !strings.Contains(got.Stderr, "--key") {
		t.Errorf("no key: %+v", got)
	}
	verdictOf(f, "--key", f.Keys.Text)
	if got := f.Run("audit", "check", file, "--text"); got.Code != cli.ExitOK || !strings.HasPrefix(got.Stdout, "PROVED  the record stands at 1:3 of the log hooks/HOOKS_AUDIT") {
		t.Errorf("with the pinned key: %+v", got)
	}
}
