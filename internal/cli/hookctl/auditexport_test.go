package hookctl_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/hookctl"
	"github.com/hookrouter/hookrouter/internal/testkit/clibus"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// shape returns the content of an export in order: sequences, and sizes of checkpoints, with w if a
// witness has signed them.
func shape(t *testing.T, file []byte) (list []string) {
	t.Helper()
	r, err := audit.NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	for {
		e, err := r.Next()
		if err != nil {
			return list
		}
		if e.Checkpoint == nil {
			list = append(list, "m"+strconv.FormatInt(e.Seq, 10))
			continue
		}
		text := string(e.Checkpoint)
		c := "c" + strings.Split(text, "\n")[2]
		if strings.Count(text, "\n— ") > 1 {
			c += "w"
		}
		list = append(list, c)
	}
}

func TestAuditExportPutsCheckpointsAtTheirPlaces(t *testing.T) {
	t.Parallel()
	f := clibus.NewAudit(t, hookctl.Run)
	a, b := clibus.NewKey(t, 2, "a"), clibus.NewKey(t, 3, "b")
	write := func() { f.Write(clibus.ChainOf("c", "s", clibus.Began)...) }
	write()
	f.Sign()
	f.Cosign(a)
	write()
	write()
	f.Sign()
	first := f.Signed
	f.Cosign(a)
	write()
	f.Sign()
	f.Cosign(a)
	last := f.Signed
	f.Signed = first
	f.Cosign(b) // the witness is behind
	f.Signed = last
	f.Cosign(b)

	file := filepath.Join(t.TempDir(), "log.jsonl")
	got := f.Run("audit", "export", file, "--text")
	if got.Code != cli.ExitOK || !strings.Contains(got.Stdout, "4 messages of hooks/HOOKS_AUDIT") {
		t.Fatal(got)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"m1", "c1", "c1w", "m2", "m3", "c3", "c3w", "c3w", "m4", "c4", "c4w", "c4w"}
	if diff := cmp.Diff(want, shape(t, text)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if info, _ := os.Stat(file); info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	if piped := f.Run("audit", "export", "-"); piped.Code != cli.ExitOK || piped.Stdout != string(text) {
		t.Errorf("to the standard output: %+v", piped)
	}
	if again := f.Run("audit", "export", file); again.Code != cli.ExitLocal || !strings.Contains(again.Stderr, "--resume") {
		t.Errorf("over a file: %+v", again)
	}

	// An export that was cut anywhere and resumed ends up the same.
	write()
	f.Sign()
	f.Cosign(a)
	whole := f.Run("audit", "export", "-").Stdout
	for cut := len(text) - 1; cut > 200; cut -= 997 {
		if err := os.WriteFile(file, text[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		got := f.Run("audit", "export", file, "--resume")
		resumed, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		check := f.Run("audit", "verify", file, "--no-pin", "--key", f.Keys.Text, "--witness", a.Text)
		if got.Code != cli.ExitOK || check.Code != audit.OKWitnessed.ExitCode() {
			t.Fatalf("cut at %d: %+v %+v", cut, got, check)
		}
		if diff := cmp.Diff(slices.Compact(shape(t, []byte(whole))), slices.Compact(shape(t, resumed))); diff != "" {
			t.Errorf("cut at %d: -whole +resumed:\n%s", cut, diff)
		}
	}
}

// The singular of "messages" is used for one message.
func TestAuditCountsOneMessage(t *testing.T) {
	t.Parallel()
	f := clibus.NewAudit(t, hookctl.Run)
	f.Fill(1)
	file := filepath.Join(t.TempDir(), "log.jsonl")
	for want, args := range map[string][]string{
		"1 message of hooks/HOOKS_AUDIT":  {"export", file},
		"1 message is as it was signed; ": {"verify", "--key", f.Keys.Text, "--no-pin"},
	} {
		if got := f.Run(append([]string{"audit", "--text"}, args...)...); !strings.Contains(got.Stdout, want) {
			t.Errorf("%+v; want %q", got, want)
		}
	}
}

func TestAuditExportKeepsCopiesBehindTheirCheckpoint(t *testing.T) {
	t.Parallel()
	f := clibus.NewAudit(t, hookctl.Run)
	a := clibus.NewKey(t, 2, "a")
	f.Write(clibus.ChainOf("c", "s", clibus.Began)...)
	f.Sign()
	f.Cosign(a)
	f.Sign() // again, with the same size
	f.Cosign(a)
	got := f.Run("audit", "export", "-")
	if diff := cmp.Diff([]string{"m1", "c1", "c1w", "c1", "c1w"}, shape(t, []byte(got.Stdout))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if v, _ := verdictOf(f, "--key", f.Keys.Text, "--witness", a.Text); v.Verdict != audit.OKWitnessed {
		t.Errorf("%+v", v)
	}
}

func TestAuditExportWithoutACheckpointSaysSo(t *testing.T) {
	t.Parallel()
	f := clibus.NewAudit(t, hookctl.Run)
	file := filepath.Join(t.TempDir(), "log.jsonl")
	if got := f.Run("audit", "export", file); got.Code != cli.ExitOK || !strings.Contains(got.Stderr, "is empty") {
		t.Errorf("an empty log: %+v", got)
	}
	f.Fill(1)
	f.Write(clibus.ChainOf("c", "s", clibus.Began)...)
	got := f.Run("audit", "export", file, "--resume", "--wait", "100ms")
	if got.Code != cli.ExitLocal || !strings.Contains(got.Stderr, "no checkpoint covers the last of them") || !strings.Contains(got.Stderr, "waiting 100ms") {
		t.Errorf("%+v", got)
	}
	text, _ := os.ReadFile(file)
	if diff := cmp.Diff([]string{"m1", "c1", "m2"}, shape(t, text)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	// It waits for a checkpoint that is about to arrive.
	b := f.Start(cli.Process{}, "audit", "export", file, "--resume", "--wait", "20s")
	if line := b.Line(); !strings.Contains(line, "waiting 20s for a router to sign") {
		t.Error(line)
	}
	f.Sign()
	if line := b.Line(); !strings.Contains(line, `"covered":true`) {
		t.Error(line)
	}
	if code := <-b.Code; code != cli.ExitOK {
		t.Errorf("exit code %d", code)
	}
}

func TestAuditExportGoesOnOnlyWithItsOwnLog(t *testing.T) {
	t.Parallel()
	f := clibus.NewAudit(t, hookctl.Run)
	f.Fill(3)
	file := filepath.Join(t.TempDir(), "log.jsonl")
	f.Run("audit", "export", file)
	f.Turn()
	f.Fill(1)
	if got := f.Run("audit", "export", file, "--resume"); got.Code != cli.ExitOK || !strings.Contains(got.Stdout, `"added":0`) {
		t.Errorf("the sealed segment, up to date: %+v", got)
	}
	if got := f.Run("audit", "export", file, "--resume", "--segment", "2"); got.Code != cli.ExitLocal || !strings.Contains(got.Stderr, "not the log or the segment here") {
		t.Errorf("another segment: %+v", got)
	}
	if got := f.Run("audit", "export", "-", "--segment", "7"); got.Code != cli.ExitLocal || !strings.Contains(got.Stderr, "no segment 7") {
		t.Errorf("no segment: %+v", got)
	}
	if got := f.Run("audit", "export", "-"); !strings.Contains(got.Stdout, "HOOKS_AUDIT_2") || !strings.Contains(got.Stderr, "this is segment 2") {
		t.Errorf("the live segment: %+v", got)
	}
	other := clibus.NewAudit(t, hookctl.Run)
	other.Fill(3)
	if got := other.Run("audit", "export", file, "--resume"); got.Code != cli.ExitLocal || !strings.Contains(got.Stderr, "another log") {
		t.Errorf("another log: %+v", got)
	}
	if err := os.WriteFile(file, []byte("hello\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := f.Run("audit", "export", file, "--resume"); got.Code != cli.ExitLocal || !strings.Contains(got.Stderr, "not an export of an audit log") {
		t.Errorf("no export: %+v", got)
	}
}

func TestAuditExportOfNoSegmentLeavesNoFile(t *testing.T) {
	t.Parallel()
	f := clibus.NewAudit(t, hookctl.Run)
	f.Fill(1)
	file := filepath.Join(t.TempDir(), "log.jsonl")
	for _, more := range [][]string{nil, {"--resume"}} {
		got := f.Run(append([]string{"audit", "export", file, "--segment", "9"}, more...)...)
		if _, err := os.Stat(file); got.Code != cli.ExitLocal || !strings.Contains(got.Stderr, "no segment 9") || !os.IsNotExist(err) {
			t.Errorf("%v: %+v, and the file: %v", more, got, err)
		}
	}
	if got := f.Run("audit", "export", file); got.Code != cli.ExitOK {
		t.Errorf("the next try: %+v", got)
	}
}
