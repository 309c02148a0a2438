package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/pkg/audit"
)

// shape is what stands in an export, in its order: sequences, and sizes of checkpoints, those
// that a witness has signed with w.
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
			list = append(list, "m"+itoa(e.Seq))
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

func itoa(n int64) string { return strings.TrimSuffix(messages(float64(n)), " messages") }

func TestAuditExportPutsCheckpointsAtTheirPlaces(t *testing.T) {
	f := newAuditFixture(t)
	a, b := newKey(t, 2, "a"), newKey(t, 3, "b")
	write := func() { f.write(chainOf("c", "s", began)...) }
	write()
	f.sign()
	f.cosign(a)
	write()
	write()
	f.sign()
	first := f.signed
	f.cosign(a)
	write()
	f.sign()
	f.cosign(a)
	last := f.signed
	f.signed = first
	f.cosign(b) // which is behind
	f.signed = last
	f.cosign(b)

	file := filepath.Join(t.TempDir(), "log.jsonl")
	got := f.run("audit", "export", file, "--text")
	if got.code != exitOK || !strings.Contains(got.stdout, "4 messages of hooks/HOOKS_AUDIT") {
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
	if piped := f.run("audit", "export", "-"); piped.code != exitOK || piped.stdout != string(text) {
		t.Errorf("to the standard output: %+v", piped)
	}
	if again := f.run("audit", "export", file); again.code != exitLocal || !strings.Contains(again.stderr, "--resume") {
		t.Errorf("over a file: %+v", again)
	}

	// Cut off anywhere, and gone on with, it is the same file in the end.
	write()
	f.sign()
	f.cosign(a)
	whole := f.run("audit", "export", "-").stdout
	for cut := len(text) - 1; cut > 200; cut -= 997 {
		if err := os.WriteFile(file, text[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		got := f.run("audit", "export", file, "--resume")
		resumed, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		check := f.run("audit", "verify", file, "--no-pin", "--key", f.keys.text, "--witness", a.text)
		if got.code != exitOK || check.code != audit.OKWitnessed.ExitCode() {
			t.Fatalf("cut at %d: %+v %+v", cut, got, check)
		}
		if diff := cmp.Diff(slices.Compact(shape(t, []byte(whole))), slices.Compact(shape(t, resumed))); diff != "" {
			t.Errorf("cut at %d: -whole +resumed:\n%s", cut, diff)
		}
	}
}

func TestAuditExportKeepsCopiesBehindTheirCheckpoint(t *testing.T) {
	f := newAuditFixture(t)
	a := newKey(t, 2, "a")
	f.write(chainOf("c", "s", began)...)
	f.sign()
	f.cosign(a)
	f.sign() // again, of the same size
	f.cosign(a)
	got := f.run("audit", "export", "-")
	if diff := cmp.Diff([]string{"m1", "c1", "c1w", "c1", "c1w"}, shape(t, []byte(got.stdout))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if v, _ := f.verdictOf("--key", f.keys.text, "--witness", a.text); v.Verdict != audit.OKWitnessed {
		t.Errorf("%+v", v)
	}
}

func TestAuditExportWithoutACheckpointSaysSo(t *testing.T) {
	f := newAuditFixture(t)
	file := filepath.Join(t.TempDir(), "log.jsonl")
	if got := f.run("audit", "export", file); got.code != exitOK || !strings.Contains(got.stderr, "is empty") {
		t.Errorf("an empty log: %+v", got)
	}
	f.fill(1)
	f.write(chainOf("c", "s", began)...)
	got := f.run("audit", "export", file, "--resume", "--wait", "100ms")
	if got.code != exitLocal || !strings.Contains(got.stderr, "no checkpoint covers the last of them") || !strings.Contains(got.stderr, "waiting 100ms") {
		t.Errorf("%+v", got)
	}
	text, _ := os.ReadFile(file)
	if diff := cmp.Diff([]string{"m1", "c1", "m2"}, shape(t, text)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	// It waits for one that is about to come.
	b := f.start(process{}, "audit", "export", file, "--resume", "--wait", "20s")
	if line := b.line(); !strings.Contains(line, "waiting 20s for a router to sign") {
		t.Error(line)
	}
	f.sign()
	if line := b.line(); !strings.Contains(line, `"covered":true`) {
		t.Error(line)
	}
	if code := <-b.code; code != exitOK {
		t.Errorf("exit code %d", code)
	}
}

func TestAuditExportGoesOnOnlyWithItsOwnLog(t *testing.T) {
	f := newAuditFixture(t)
	f.fill(3)
	file := filepath.Join(t.TempDir(), "log.jsonl")
	f.run("audit", "export", file)
	f.turn()
	f.fill(1)
	if got := f.run("audit", "export", file, "--resume"); got.code != exitOK || !strings.Contains(got.stdout, `"added":0`) {
		t.Errorf("the sealed segment, up to date: %+v", got)
	}
	if got := f.run("audit", "export", file, "--resume", "--segment", "2"); got.code != exitLocal || !strings.Contains(got.stderr, "not the log or the segment here") {
		t.Errorf("another segment: %+v", got)
	}
	if got := f.run("audit", "export", "-", "--segment", "7"); got.code != exitLocal || !strings.Contains(got.stderr, "no segment 7") {
		t.Errorf("no segment: %+v", got)
	}
	if got := f.run("audit", "export", "-"); !strings.Contains(got.stdout, "HOOKS_AUDIT_2") || !strings.Contains(got.stderr, "this is segment 2") {
		t.Errorf("the live segment: %+v", got)
	}
	other := newAuditFixture(t)
	other.fill(3)
	if got := other.run("audit", "export", file, "--resume"); got.code != exitLocal || !strings.Contains(got.stderr, "another log") {
		t.Errorf("another log: %+v", got)
	}
	if err := os.WriteFile(file, []byte("hello\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := f.run("audit", "export", file, "--resume"); got.code != exitLocal || !strings.Contains(got.stderr, "no export of an audit log") {
		t.Errorf("no export: %+v", got)
	}
}

func TestAuditExportOfNoSegmentLeavesNoFile(t *testing.T) {
	f := newAuditFixture(t)
	f.fill(1)
	file := filepath.Join(t.TempDir(), "log.jsonl")
	for _, more := range [][]string{nil, {"--resume"}} {
		got := f.run(append([]string{"audit", "export", file, "--segment", "9"}, more...)...)
		if _, err := os.Stat(file); got.code != exitLocal || !strings.Contains(got.stderr, "no segment 9") || !os.IsNotExist(err) {
			t.Errorf("%v: %+v, and the file: %v", more, got, err)
		}
	}
	if got := f.run("audit", "export", file); got.code != exitOK {
		t.Errorf("the next try: %+v", got)
	}
}
