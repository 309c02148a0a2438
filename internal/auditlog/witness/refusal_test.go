package witness_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/hookrouter/hookrouter/internal/auditlog/store"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

func TestWhatMustNotBeIsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tamper func(b *bench)
		reason string
		found  bool // the checkpoint that does not go with it is kept
	}{
		"a stream made anew with other content": {func(b *bench) {
			b.recreate("HOOKS_AUDIT")
			b.history, b.wseq = audit.Log{}, 0
			b.write(4, "FORGED")
			b.sign()
		}, "created again", false},
		"another history, signed with the router's key": {func(b *bench) {
			b.wseq = 0
			var other audit.Log
			for range 4 {
				b.must(other.Append(audit.Message{Stored: time.Now(), Body: b.message("FORGED")}))
			}
			b.wseq = 6
			b.write(1, "fine")
			b.signWith(b.router, other.Checkpoint(b.format, b.origin(), time.Now(), b.previous))
		}, "not the ones that were signed", true},
		"another root for the size that was signed": {func(b *bench) {
			c := b.checkpoint()
			c.Root = tlog.Hash{1}
			b.signWith(b.router, c)
		}, "states the root", true},
		"a smaller checkpoint": {func(b *bench) {
			c := b.checkpoint()
			c.Size, c.Writers = 2, nil
			b.signWith(b.router, c)
		}, "size 2 follows one of size 3", true},
		"a checkpoint that was left out": {func(b *bench) {
			b.write(1, "fine")
			b.previous = tlog.Hash{9}
			b.sign()
		}, "predecessor", true},
		"another time of the checkpoint that was signed, and the log goes on from it": {func(b *bench) {
			b.previous = b.history.Checkpoint(b.format, b.origin(), time.Unix(1, 0), tlog.Hash{}).Digest()
			b.write(1, "fine")
			b.sign()
		}, "predecessor", true},
		"a tail that was cut off": {func(b *bench) {
			bodies := b.bodies()
			b.recreate("HOOKS_AUDIT")
			for _, body := range bodies[:2] {
				_, err := b.js.Publish(b.t.Context(), b.bus.Of("audit", "w", "router-1"), body)
				b.must(err)
			}
		}, "ends after message 2, but 3 were seen", false},
		"messages under checkpoints that it has not seen": {func(b *bench) {
			seen := b.bodies()
			for range 2 {
				b.write(1, "fine")
				b.sign()
			}
			b.recreate("HOOKS_AUDIT")
			for _, body := range seen {
				_, err := b.js.Publish(b.t.Context(), b.bus.Of("audit", "w", "router-1"), body)
				b.must(err)
			}
		}, "ends after message 3, but a checkpoint covers 4", true},
		"a segment that it has not seen": {func(b *bench) {
			for range 2 {
				b.rotate()
				b.write(1, "fine")
				b.sign()
			}
			b.must(b.bus.RemoveStream(b.t.Context(), "HOOKS_AUDIT_2"))
		}, "HOOKS_AUDIT_2 was removed before this witness had seen it", true},
		"the whole log": {func(b *bench) { b.must(b.bus.RemoveStream(b.t.Context(), "HOOKS_AUDIT")) }, "the log is gone", false},
		"the checkpoints": {func(b *bench) {
			b.must(b.bus.RemoveStream(b.t.Context(), "HOOKS_CHECKPOINTS"))
			_, err := store.Open(b.t.Context(), b.bus, 0)
			b.must(err)
		}, "is gone", false},
		"checkpoints written anew": {func(b *bench) {
			b.recreate("HOOKS_CHECKPOINTS")
			b.previous, b.revision = tlog.Hash{}, 0
			b.trail, _ = store.Open(b.t.Context(), b.bus, 0)
			b.sign()
		}, "was replaced by another", true},
		"a message that is no record": {func(b *bench) {
			_, err := b.js.Publish(b.t.Context(), b.bus.Of("audit", "w", "x"), []byte("hello\n"))
			b.must(err)
			c := b.checkpoint()
			c.Size = 4
			b.signWith(b.router, c)
		}, "message 4 on hooks.audit.w.x is not a record", true},
		"a writer's head that is not its head": {func(b *bench) {
			b.write(1, "fine")
			c := b.checkpoint()
			c.Writers[0].WSeq--
			b.signWith(b.router, c)
		}, "last record of each writer", true},
		"a checkpoint of another log": {func(b *bench) {
			c := b.history.Checkpoint(b.format, "hooks/OTHER", time.Now(), b.previous)
			b.signWith(b.router, c)
		}, "another log", true},
		"a checkpoint that is none": {func(b *bench) {
			_, err := b.js.Publish(b.t.Context(), b.bus.Of("checkpoint", "HOOKS_AUDIT"), []byte("hello"))
			b.must(err)
		}, "can't be read", false},
		"a signature that does not fit": {func(b *bench) {
			body, err := json.Marshal(store.Checkpoint{Signed: strings.Replace(string(b.last), "\n3\n", "\n4\n", 1)})
			b.must(err)
			_, err = b.js.Publish(b.t.Context(), b.bus.Of("checkpoint", "HOOKS_AUDIT"), body)
			b.must(err)
		}, "does not fit", true},
		"messages that no checkpoint covers when the segment is closed": {func(b *bench) {
			b.write(2, "fine")
			b.rotate()
			b.write(1, "fine")
			b.sign()
		}, "no checkpoint covers messages 4 to 5", true},
		"a segment that is not closed, and another": {func(b *bench) {
			s, err := b.js.Stream(b.t.Context(), "HOOKS_AUDIT")
			b.must(err)
			config := s.CachedInfo().Config
			config.Subjects = []string{"elsewhere"}
			_, err = b.js.UpdateStream(b.t.Context(), config)
			b.must(err)
			_, err = b.bus.CreateStream(b.t.Context(), "HOOKS_AUDIT_2", store.Subjects(b.bus), 0)
			b.must(err)
			b.must(b.trail.Refresh(b.t.Context()))
			b.segment, b.history, b.revision, b.wseq = b.trail.Live(), audit.Log{}, 0, 0
			b.write(1, "fine")
			b.sign()
		}, "is not closed", true},
		"a first message that was removed": {func(b *bench) {
			bodies := b.bodies()
			s, err := b.js.Stream(b.t.Context(), "HOOKS_AUDIT")
			b.must(err)
			config := s.CachedInfo().Config
			config.FirstSeq = 2
			b.must(b.js.DeleteStream(b.t.Context(), "HOOKS_AUDIT"))
			_, err = b.js.CreateStream(b.t.Context(), config)
			b.must(err)
			for _, body := range bodies[1:] {
				_, err := b.js.Publish(b.t.Context(), b.bus.Of("audit", "w", "router-1"), body)
				b.must(err)
			}
		}, "has only 2 of its 3 messages", false},
		"a segment that does not name the one before": {func(b *bench) {
			b.rotate()
			b.previous = tlog.Hash{}
			b.write(1, "fine")
			b.sign()
		}, "predecessor", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBenchIn(t, audit.LineFormat)
			b.write(3, "fine")
			b.sign()
			b.must(b.once())
			signed := b.published("HOOKS_AUDIT")
			if signed != 3 {
				t.Fatalf("it has signed size %d; want 3", signed)
			}
			c.tamper(b)
			refusal := b.wantRefusal(b.once(), c.reason)
			if (refusal.Found != "") != c.found {
				t.Errorf("the checkpoint that was found is %q; want one: %v", refusal.Found, c.found)
			}
			if !strings.Contains(refusal.Signed, "hooks/HOOKS_AUDIT\n3\n") {
				t.Errorf("what was signed before is %q; want the checkpoint of size 3", refusal.Signed)
			}
		})
	}
}

// bodies are the messages of the first segment.
func (b *bench) bodies() (list [][]byte) {
	b.t.Helper()
	b.must(b.segment.Read(b.t.Context(), "", 1, uint64(b.history.Size()), func(rec natsx.Record) error {
		list = append(list, rec.Body)
		return nil
	}))
	return list
}

func TestARunningWitnessRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tamper func(b *bench)
		reason string
	}{
		"a log that is cut though no checkpoint comes": {func(b *bench) { b.recreate("HOOKS_AUDIT") }, "ends after message 0"},
		"a checkpoint with another root": {func(b *bench) {
			c := b.checkpoint()
			c.Root = tlog.Hash{1}
			b.signWith(b.router, c)
		}, "states the root"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.write(3, "fine")
			b.sign()
			_, done := b.run()
			b.until("HOOKS_AUDIT", 3)
			c.tamper(b)
			_ = b.wantRefusal(b.wait(done), c.reason)
		})
	}
}

// TestARestoredStreamIsReadAgain: the same messages in a stream made anew are no
// conflict.
func TestARestoredStreamIsReadAgain(t *testing.T) {
	t.Parallel()
	b := newBenchIn(t, audit.LineFormat)
	b.write(3, "fine")
	b.sign()
	b.must(b.once())
	bodies := b.bodies()
	b.recreate("HOOKS_AUDIT")
	for _, body := range bodies {
		_, err := b.js.Publish(t.Context(), b.bus.Of("audit", "w", "router-1"), body)
		b.must(err)
	}
	b.write(2, "fine")
	b.sign()
	b.must(b.once())
	if got := b.published("HOOKS_AUDIT"); got != 5 {
		t.Errorf("it has signed size %d; want 5", got)
	}
}

// TestACheckpointAheadOfTheMessages: what a replica that lags does not show yet is
// waited for.
func TestACheckpointAheadOfTheMessages(t *testing.T) {
	t.Parallel()
	b := newBenchIn(t, audit.LineFormat)
	b.write(3, "fine")
	b.sign()
	o := b.options()
	o.Grace = time.Hour
	stop, _ := b.runWith(o)
	b.until("HOOKS_AUDIT", 3)
	late := b.message("fine")
	b.must(b.history.Append(audit.Message{Stored: time.Now(), Body: late}))
	b.sign()
	b.waiting("ends after message 3, but a checkpoint covers 4")
	_, err := b.js.Publish(t.Context(), b.bus.Of("audit", "w", "router-1"), late)
	b.must(err)
	b.until("HOOKS_AUDIT", 4)
	b.must(stop())
}

// TestEachAbsenceHasItsOwnGrace: what was missing and came back does not shorten the
// patience with what is missing later.
func TestEachAbsenceHasItsOwnGrace(t *testing.T) {
	t.Parallel()
	b := newBenchIn(t, audit.LineFormat)
	b.write(3, "fine")
	b.sign()
	o := b.options()
	o.Every, o.Grace = time.Hour, time.Second
	stop, _ := b.runWith(o)
	b.until("HOOKS_AUDIT", 3)
	for size := int64(4); size <= 5; size++ {
		if size == 5 {
			<-time.After(o.Grace)
		}
		late := b.message("fine")
		b.must(b.history.Append(audit.Message{Stored: time.Now(), Body: late}))
		b.sign()
		b.waiting(fmt.Sprintf("ends after message %d, but a checkpoint covers %d", size-1, size))
		_, err := b.js.Publish(t.Context(), b.bus.Of("audit", "w", "router-1"), late)
		b.must(err)
		b.until("HOOKS_AUDIT", size)
	}
	b.must(stop())
}

// TestARefusalHolds: a log that looks well again is not signed before a person took the
// proof away.
func TestARefusalHolds(t *testing.T) {
	t.Parallel()
	b := newBenchIn(t, audit.LineFormat)
	b.write(3, "fine")
	b.sign()
	b.must(b.once())
	bodies := b.bodies()
	b.recreate("HOOKS_AUDIT")
	b.refusedWithout(b.once(), "ends after message 0")
	for _, body := range bodies {
		_, err := b.js.Publish(t.Context(), b.bus.Of("audit", "w", "router-1"), body)
		b.must(err)
	}
	b.refusedWithout(b.once(), "ends after message 0")
	b.must(os.Remove(b.state + ".fork.json"))
	b.must(b.once())
}

// full makes the checkpoint stream take nothing more, or as much as before.
func (b *bench) full(full bool) {
	b.t.Helper()
	s, err := b.js.Stream(b.t.Context(), store.CheckpointStream(b.bus))
	b.must(err)
	config := s.CachedInfo().Config
	config.MaxMsgs = -1
	if full {
		config.MaxMsgs = int64(s.CachedInfo().State.Msgs)
	}
	_, err = b.js.UpdateStream(b.t.Context(), config)
	b.must(err)
}
