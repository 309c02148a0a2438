package audit_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/hookrouter/hookrouter/pkg/audit"
)

// stored is the log of tlog itself, which keeps every hash.
type stored []tlog.Hash

func (s stored) ReadHashes(at []int64) ([]tlog.Hash, error) {
	hashes := make([]tlog.Hash, len(at))
	for i, n := range at {
		hashes[i] = s[n]
	}
	return hashes, nil
}

func TestTreeIsTheOneOfTlog(t *testing.T) {
	var tree audit.Tree
	var all stored
	if want, _ := tlog.TreeHash(0, all); tree.Root() != want {
		t.Error("the empty tree has another root")
	}
	for n := range int64(130) {
		leaf := tlog.RecordHash([]byte(fmt.Sprint(n)))
		more, err := tlog.StoredHashesForRecordHash(n, leaf, all)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, more...)
		tree.Append(leaf)
		want, err := tlog.TreeHash(n+1, all)
		if err != nil {
			t.Fatal(err)
		}
		if tree.Root() != want || tree.Size() != n+1 {
			t.Fatalf("size %d: another root", n+1)
		}
		again, err := audit.TreeOf(tree.Size(), tree.Subtrees())
		if err != nil || again.Root() != want {
			t.Fatalf("size %d: restored it has another root: %v", n+1, err)
		}
	}
	if _, err := audit.TreeOf(3, make([]tlog.Hash, 1)); err == nil {
		t.Error("a tree of 3 was restored from one subtree")
	}
}

// TestLeavesAreAsDescribed makes the leaves of a message as audit-format.md says.
func TestLeavesAreAsDescribed(t *testing.T) {
	sum := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return string(sum[:])
	}
	a := strings.TrimSuffix(string(audit.Record{Action: "a"}.Append(nil)), "\n")
	b := strings.TrimSuffix(string(audit.Record{Action: "b"}.Append(nil)), "\n")
	stored := time.Date(2026, 3, 1, 13, 0, 0, 120_000_000, time.FixedZone("CET", 3600))
	for f, want := range map[audit.Format]tlog.Hash{
		audit.LineFormat:    tlog.RecordHash([]byte(sum(a) + sum(b))),
		audit.MessageFormat: tlog.RecordHash([]byte(sum("2026-03-01T12:00:00.12Z hooks.audit.w.x") + sum(a) + sum(b))),
	} {
		for name, set := range map[string]audit.Format{"known": f, "not known yet": 0} {
			var log audit.Log
			log.SetFormat(set)
			if err := log.Append(audit.Message{Subject: "hooks.audit.w.x", Stored: stored, Body: []byte(a + "\n" + b + "\n")}); err != nil {
				t.Fatal(err)
			}
			if got := log.Root(f); got != want {
				t.Errorf("%v, %s: the leaf is %v, want %v", f, name, got, want)
			}
		}
	}
}

func TestLogGoesOnFromACheckpoint(t *testing.T) {
	m := maker{signer: router.Signer}
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 21 {
		m.message(rnd, "fine")
	}
	c := m.log.Checkpoint(audit.Latest, origin, start, tlog.Hash{})
	again, err := audit.LogAt(c, m.log.Subtrees(audit.Latest))
	if err != nil {
		t.Fatal(err)
	}
	m.message(rnd, "more")
	if err := again.Append(message(m.parts[len(m.parts)-1].body)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(m.log.Checkpoint(audit.Latest, origin, start, c.Digest()), again.Checkpoint(audit.Latest, origin, start, c.Digest())); diff != "" {
		t.Error(diff)
	}
	c.Root[0]++
	if _, err := audit.LogAt(c, m.log.Subtrees(audit.Latest)); err == nil {
		t.Error("a log was restored with another root")
	}
}

func TestReceipts(t *testing.T) {
	parts := makeLog(3, 30, "fine", router.Signer)
	parts[len(parts)-1].checkpoint = cosigned(t, parts)
	file := export(t, parts)
	for _, p := range parts {
		for i, record := range bytes.Split(bytes.TrimSuffix(p.body, []byte("\n")), []byte("\n")) {
			if p.body == nil {
				continue
			}
			r, err := audit.Prove(t.Context(), bytes.NewReader(file), p.seq, i)
			if err != nil {
				t.Fatal(err)
			}
			if r.Line != string(record) {
				t.Fatalf("message %d, record %d: another line", p.seq, i)
			}
			if c, witnessed, err := r.Check(keys); err != nil || !witnessed || c.Size != 30 {
				t.Fatalf("message %d, record %d: %v %v %v", p.seq, i, c.Size, witnessed, err)
			}
		}
	}
}

func TestReceiptsOfWhatIsNotInTheLogAreRefused(t *testing.T) {
	m := maker{signer: router.Signer}
	for range 20 {
		m.add(chainBody(&m, 1))
	}
	m.sign()
	file := export(t, m.parts)
	for name, change := range map[string]func(r *audit.Receipt){
		"another line": func(r *audit.Receipt) {
			r.Line = string(bytes.Replace([]byte(r.Line), []byte("guard"), []byte("GUARD"), 1))
		},
		"no record":              func(r *audit.Receipt) { r.Line = "hello" },
		"another sequence":       func(r *audit.Receipt) { r.Seq++ },
		"sequence 0":             func(r *audit.Receipt) { r.Seq = 0 },
		"beyond the checkpoint":  func(r *audit.Receipt) { r.Seq = 21 },
		"another position":       func(r *audit.Receipt) { r.Position++ },
		"a position before all":  func(r *audit.Receipt) { r.Position = -1 },
		"a position after all":   func(r *audit.Receipt) { r.Position = 4 },
		"a sibling less":         func(r *audit.Receipt) { r.Siblings = r.Siblings[1:] },
		"another sibling":        func(r *audit.Receipt) { r.Siblings[0][0]++ },
		"a shorter proof":        func(r *audit.Receipt) { r.Proof = r.Proof[1:] },
		"no proof":               func(r *audit.Receipt) { r.Proof = nil },
		"no checkpoint":          func(r *audit.Receipt) { r.Checkpoint = "" },
		"a checkpoint of others": func(r *audit.Receipt) { r.Checkpoint = string(makeLog(1, 20, "x", mallory.Signer)[19].checkpoint) },
	} {
		r, err := audit.Prove(t.Context(), bytes.NewReader(file), 7, 0)
		if err != nil {
			t.Fatal(err)
		}
		change(&r)
		if _, _, err := r.Check(keys); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	r, err := audit.Prove(t.Context(), bytes.NewReader(file), 7, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.Check(audit.Keys{}); err == nil {
		t.Error("checked without a key")
	}
}

func TestProveSaysWhatIsNotThere(t *testing.T) {
	m := maker{signer: router.Signer}
	m.add(chainBody(&m, 1))
	m.sign()
	m.add(chainBody(&m, 1))
	for name, c := range map[string]struct {
		seq      int64
		position int
	}{
		"no message 0": {0, 0}, "after the last checkpoint": {2, 0}, "after the end": {3, 0}, "no such record": {1, 4}, "a negative one": {1, -1},
	} {
		if _, err := audit.Prove(t.Context(), bytes.NewReader(export(t, m.parts)), c.seq, c.position); err == nil {
			t.Errorf("%s: proved", name)
		}
	}
	if _, err := audit.Prove(t.Context(), bytes.NewReader(export(t, m.parts[1:])), 1, 0); err == nil {
		t.Error("proved in a log without its beginning")
	}
}
