package witness_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/hookrouter/hookrouter/internal/auditlog/store"
	"github.com/hookrouter/hookrouter/internal/auditlog/witness"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// TestACrashBetweenStateAndPublication: what stands in the state is published by the
// next run, though no checkpoint comes; and nothing was published that was not kept.
func TestACrashBetweenStateAndPublication(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write(3, "fine")
	b.sign()
	b.full(true)
	if err := b.once(); err == nil {
		t.Fatal("it published though the stream takes nothing")
	}
	if got := b.published("HOOKS_AUDIT"); got != 0 {
		t.Fatalf("it has published size %d; want nothing", got)
	}
	text, err := os.ReadFile(b.state)
	if err != nil || !strings.Contains(string(text), `"size": 3`) {
		t.Fatalf("the state is %s, %v; want size 3 in it: it is kept before it is published", text, err)
	}
	b.full(false)
	b.must(b.once())
	if got := b.published("HOOKS_AUDIT"); got != 3 {
		t.Errorf("it has published size %d; want 3", got)
	}
}

func TestAStateThatWasSetBack(t *testing.T) {
	t.Parallel()
	setUp := func(t *testing.T) (b *bench) {
		b = newBench(t)
		b.write(3, "fine")
		b.sign()
		b.must(b.once())
		old, err := os.ReadFile(b.state)
		b.must(err)
		b.write(2, "fine")
		b.sign()
		b.must(b.once())
		b.must(os.WriteFile(b.state, old, 0o600))
		return b
	}
	t.Run("it goes on where the log is the one that was signed", func(t *testing.T) {
		b := setUp(t)
		b.write(1, "fine")
		b.sign()
		b.must(b.once())
		if got := b.published("HOOKS_AUDIT"); got != 6 {
			t.Errorf("it has signed size %d; want 6", got)
		}
	})
	t.Run("so it does where the state is lost", func(t *testing.T) {
		b := setUp(t)
		b.must(os.Remove(b.state))
		b.write(1, "fine")
		b.sign()
		b.must(b.once())
		if got := b.published("HOOKS_AUDIT"); got != 6 {
			t.Errorf("it has signed size %d; want 6", got)
		}
	})
	t.Run("it refuses another log, though the state does not know better", func(t *testing.T) {
		b := setUp(t)
		b.must(os.Remove(b.state))
		b.recreate("HOOKS_AUDIT")
		cosigned := b.notes("cosigned")
		b.recreate("HOOKS_CHECKPOINTS")
		var err error
		b.trail, err = store.Open(t.Context(), b.bus, 0)
		b.must(err)
		for _, rec := range cosigned { // an honest copy of what witnesses have signed
			_, err := b.js.Publish(t.Context(), rec.Subject, rec.Body)
			b.must(err)
		}
		b.history, b.wseq, b.previous, b.revision = audit.Log{}, 0, tlog.Hash{}, 0
		b.write(7, "FORGED")
		b.sign()
		b.refusedWithout(b.once(), "has signed the root")
	})
}

// refusedWithout is a refusal where no state is.
func (b *bench) refusedWithout(err error, reason string) {
	b.t.Helper()
	refusal, ok := errors.AsType[*witness.Refusal](err)
	if !ok || !strings.Contains(refusal.Reason, reason) {
		b.t.Fatalf("the witness said %v; want a refusal with %q", err, reason)
	}
}

// notes are those of one kind in the checkpoint stream.
func (b *bench) notes(kind string) (list []natsx.Record) {
	b.t.Helper()
	state, err := b.trail.CheckpointNotes().State(b.t.Context(), store.CheckpointSubjects(b.bus))
	b.must(err)
	b.must(b.trail.CheckpointNotes().Read(b.t.Context(), b.bus.Of(kind, ">"), 1, state.Last, func(rec natsx.Record) error {
		list = append(list, rec)
		return nil
	}))
	return list
}

func TestAnUnknownKeyIsNoFork(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write(3, "fine")
	b.sign()
	b.must(b.once())
	old := b.router
	b.router = newKey(t, "hook-router")
	b.write(1, "fine")
	b.sign()
	next := b.router
	b.router = old
	if err := b.once(); !errors.Is(err, witness.ErrKey) {
		t.Fatalf("it said %v; want that it does not know the key", err)
	}
	if _, err := os.Stat(b.state + ".fork.json"); err == nil {
		t.Error("it keeps a proof of a fork")
	}
	o := b.options()
	o.Routers = append(o.Routers, next.verifier)
	w, err := witness.New(b.bus, o)
	b.must(err)
	b.must(w.Once(t.Context()))
}

func TestTwoProcessesWithOneKey(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write(3, "fine")
	b.sign()
	_, done := b.run()
	b.until("HOOKS_AUDIT", 3)
	b.write(1, "fine")
	c := b.checkpoint()
	// A note by the same key that the running witness did not write.
	foreign, err := note.Sign(&note.Note{Text: c.Text()}, b.witness)
	b.must(err)
	_, err = b.js.Publish(t.Context(), store.CosignedSubject(b.bus, "HOOKS_AUDIT", witness.ID(b.witness.verifier)), foreign)
	b.must(err)
	b.sign()
	if err := b.wait(done); !errors.Is(err, witness.ErrTwice) {
		t.Errorf("it said %v; want that another process has its key", err)
	}
}

func TestUnusableStates(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write(3, "fine")
	b.sign()
	b.must(b.once())
	good, err := os.ReadFile(b.state)
	b.must(err)
	for name, c := range map[string]struct {
		change func(o *witness.Options)
		want   string
	}{
		"no JSON":                       {func(*witness.Options) { b.must(os.WriteFile(b.state, []byte("{"), 0o600)) }, "read the state"},
		"another witness's":             {func(o *witness.Options) { k := newKey(t, "other"); o.Signer, o.Verifier = k, k.verifier }, "another witness's"},
		"a changed root of a subtree":   {func(*witness.Options) { b.must(os.WriteFile(b.state, damage(t, good), 0o600)) }, "damaged"},
		"no directory":                  {func(o *witness.Options) { o.State = filepath.Join(t.TempDir(), "none", "state.json") }, "store the state"},
		"no key of a router":            {func(o *witness.Options) { o.Routers = nil }, "no key of a router"},
		"the witness's key as a router": {func(o *witness.Options) { o.Routers = append(o.Routers, b.witness.verifier) }, "key of its own"},
	} {
		t.Run(name, func(t *testing.T) {
			b.must(os.WriteFile(b.state, good, 0o600))
			o := b.options()
			c.change(&o)
			if _, err := witness.New(b.bus, o); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v; want %q in it", err, c.want)
			}
		})
	}
}

// damage changes a hash of the subtrees.
func damage(t *testing.T, state []byte) []byte {
	t.Helper()
	var m map[string]json.RawMessage
	if err := json.Unmarshal(state, &m); err != nil {
		t.Fatal(err)
	}
	var hashes []tlog.Hash
	if err := json.Unmarshal(m["subtrees"], &hashes); err != nil {
		t.Fatal(err)
	}
	hashes[0][0] ^= 1
	m["subtrees"], _ = json.Marshal(hashes)
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
