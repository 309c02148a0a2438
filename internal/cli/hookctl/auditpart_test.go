package hookctl_test

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/hookrouter/hookrouter/internal/cli/hookctl"
	"github.com/hookrouter/hookrouter/internal/testkit/clibus"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// The first checkpoint of a segment is at its end, far beyond what could be kept in memory, as if
// no router signed for a while.
func TestAuditVerifyOfALateCheckpoint(t *testing.T) {
	t.Parallel()
	f := clibus.NewAudit(t, hookctl.Run)
	file := filepath.Join(t.TempDir(), "late.jsonl")
	out, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	previous := tlog.RecordHash([]byte("the segment before"))
	writeLate(t, out, 70<<20, f.Keys, previous)
	own := filepath.Join(t.TempDir(), "own.json")
	args := []string{"--key", f.Keys.Text, "--pin", own, file}
	if v, _ := verdictOf(f, args...); v.Verdict != audit.Incomplete || !strings.Contains(v.Reason, "nothing says where that ended") {
		t.Errorf("alone: %s: %s", v.Verdict, v.Reason)
	}
	for pinned, want := range map[tlog.Hash]audit.Verdict{previous: audit.OKPinned, tlog.RecordHash([]byte("another")): audit.Diverged} {
		pin, err := json.Marshal(struct {
			audit.Pin
			Previous tlog.Hash `json:"previous"`
		}{audit.Pin{Origin: "hooks/HOOKS_AUDIT_2", Size: 1, Root: lateRoot(t)}, pinned})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(own, pin, 0o600); err != nil {
			t.Fatal(err)
		}
		if v, _ := verdictOf(f, args...); v.Verdict != want {
			t.Errorf("with a pin: %s: %s; want %s", v.Verdict, v.Reason, want)
		}
	}
}

// lateLine returns a record of writeLate.
func lateLine(wseq int) string {
	return fmt.Sprintf(`{"time":"2026-03-01T12:00:00Z","kind":"log","chain_id":"","session_id":"","event":"","hook":"","action":"x","reason":%q,"writer":"w1","wseq":%d}`,
		strings.Repeat("x", 200<<10), wseq)
}

// lateMessage returns a message of writeLate.
func lateMessage(n int) audit.Message {
	return audit.Message{Subject: "hooks.audit.w.w1", Stored: clibus.Began.Add(time.Duration(n) * time.Second), Body: []byte(lateLine(n) + "\n")}
}

// lateRoot returns the root after the first message.
func lateRoot(t *testing.T) tlog.Hash {
	t.Helper()
	var log audit.Log
	if err := log.Append(lateMessage(1)); err != nil {
		t.Fatal(err)
	}
	return log.Root(audit.Latest)
}

// writeLate writes an export of a second segment, with its only checkpoint at the end.
func writeLate(t *testing.T, out io.Writer, size int, keys clibus.NoteKey, previous tlog.Hash) {
	t.Helper()
	w, err := audit.NewWriter(out, audit.Header{Origin: "hooks/HOOKS_AUDIT_2", First: 1, Prefix: "hooks"})
	if err != nil {
		t.Fatal(err)
	}
	var log audit.Log
	for n, written := 1, 0; written < size; n++ {
		m := lateMessage(n)
		written += len(m.Body)
		if err := log.Append(m); err != nil {
			t.Fatal(err)
		}
		if err := w.Message(int64(n), m.Stored, m.Subject, m.Body); err != nil {
			t.Fatal(err)
		}
	}
	c := log.Checkpoint(audit.Latest, "hooks/HOOKS_AUDIT_2", clibus.Began, previous)
	signed, err := c.Sign(keys)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Checkpoint(signed); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
}
