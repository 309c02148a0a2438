package signer_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/hookrouter/hookrouter/internal/auditlog/signer"
	"github.com/hookrouter/hookrouter/internal/auditlog/store"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// fixture is a log, and routers that sign it.
type fixture struct {
	*testing.T
	conn   *natsx.Conn
	log    *store.Log
	key    *signer.Key
	alarms []string
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	conn := natstest.Connect(t, natsx.Options{InProcess: natstest.Server(t)})
	log, err := store.Open(t.Context(), conn, 1)
	if err != nil {
		t.Fatal(err)
	}
	key, err := signer.LoadKey(filepath.Join(t.TempDir(), "audit.key"))
	if err != nil {
		t.Fatal(err)
	}
	return &fixture{T: t, conn: conn, log: log, key: key}
}

// write appends a message.
func (f *fixture) write(body string) {
	f.Helper()
	if body == "" {
		body = string(audit.Record{Kind: audit.LogKind}.Append(nil))
	}
	subject := f.conn.Of("audit", "w", "router")
	newest, err := f.log.Live().Newest(f.Context(), subject)
	if err != nil && !errors.Is(err, natsx.ErrNoKey) {
		f.Fatal(err)
	}
	if _, err := f.log.Live().Append(f.Context(), subject, "", newest.Sequence, []byte(body)); err != nil {
		f.Fatal(err)
	}
}

// sign has a router sign what is there, as it does when it ends.
func (f *fixture) sign(upgraded bool) {
	f.Helper()
	ctx, cancel := context.WithCancel(f.Context())
	cancel()
	signer.New(f.log, signer.Options{
		Key: f.key.Signer, Verifier: f.key.Verifier, Upgraded: func() bool { return upgraded },
		Alarm: func(reason string) { f.alarms = append(f.alarms, reason) },
	}).Run(ctx)
}

// last is the last checkpoint of the live segment.
func (f *fixture) last() audit.Checkpoint { return f.lastOf(f.log.Live()) }

func (f *fixture) lastOf(segment store.Segment) audit.Checkpoint {
	f.Helper()
	last, err := f.log.LastCheckpoint(f.Context(), segment)
	if err != nil {
		f.Fatal(err)
	}
	c, _, err := (audit.Keys{Routers: []note.Verifier{f.key.Verifier}}).Open([]byte(last.Signed))
	if err != nil {
		f.Fatal(err)
	}
	return c
}

// cosign publishes as a witness does; format 0 is a witness that says nothing of it.
func (f *fixture) cosign(format int) {
	f.Helper()
	last, err := f.log.LastCheckpoint(f.Context(), f.log.Live())
	if err != nil {
		f.Fatal(err)
	}
	if format == 0 {
		_, err = f.log.CheckpointNotes().Append(f.Context(), store.CosignedSubject(f.conn, f.log.Live().Name(), "w"), "", 0, []byte(last.Signed))
	} else {
		_, err = f.log.AppendCosigned(f.Context(), store.Cosigned{Segment: f.log.Live().Name(), Witness: "w", Signed: []byte(last.Signed), Format: format}, 0)
	}
	if err != nil {
		f.Fatal(err)
	}
}

func (f *fixture) rotate() {
	f.Helper()
	if _, err := f.log.Seal(f.Context()); err != nil {
		f.Fatal(err)
	}
}

func TestTheFirstCheckpointDecidesTheFormat(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		upgraded bool
		witness  int // the format that one knows which has signed the segment before; -1: none
		want     audit.Format
	}{
		"all routers are upgraded, and nobody witnesses":  {true, -1, audit.MessageFormat},
		"a router is of an older version":                 {false, -1, audit.LineFormat},
		"the witness is upgraded":                         {true, 2, audit.MessageFormat},
		"the witness is of an older version":              {true, 0, audit.LineFormat},
		"the witness is of an older version that says so": {true, 1, audit.LineFormat},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.write("")
			f.sign(false)
			first := f.last()
			if first.Format != audit.LineFormat {
				t.Fatalf("the first segment is in %q", first.Format)
			}
			if c.witness >= 0 {
				f.cosign(c.witness)
			}
			f.write("")
			f.sign(true)
			if got := f.last(); got.Format != audit.LineFormat || got.Size != 2 {
				t.Errorf("the first segment goes on as %+v; want its format kept", got)
			}
			before := f.last()
			f.rotate()
			f.write("")
			f.sign(c.upgraded)
			if got := f.last(); got.Format != c.want || got.Previous != before.Digest() {
				t.Errorf("the second segment begins with %+v; want format %q", got, c.want)
			}
			if len(f.alarms) > 0 {
				t.Error(f.alarms)
			}
		})
	}
}

func TestANewLogBeginsWithTheLatestFormat(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("")
	f.sign(true)
	first := f.last()
	if first.Format != audit.Latest || first.Size != 1 {
		t.Errorf("%+v", first)
	}
	f.write("")
	f.sign(false) // it has begun
	if got := f.last(); got.Format != audit.Latest || got.Size != 2 || got.Previous != first.Digest() {
		t.Errorf("%+v", got)
	}
}

// TestALaterFormatIsLeftToNewerRouters: no alarm, no checkpoint; and the next segment goes
// on from it.
func TestALaterFormatIsLeftToNewerRouters(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("")
	f.sign(true)
	text := strings.Replace(f.last().Text(), audit.Latest.String(), "hookrouter-audit v3", 1)
	signed, err := note.Sign(&note.Note{Text: text}, f.key.Signer)
	if err != nil {
		t.Fatal(err)
	}
	before, err := f.log.LastCheckpoint(t.Context(), f.log.Live())
	if err != nil {
		t.Fatal(err)
	}
	later, err := f.log.AppendCheckpoint(t.Context(), f.log.Live(), store.Checkpoint{Signed: string(signed)}, before.Revision)
	if err != nil {
		t.Fatal(err)
	}
	f.write("")
	f.sign(true)
	if got, err := f.log.LastCheckpoint(t.Context(), f.log.Live()); err != nil || got.Revision != later {
		t.Errorf("it was signed: %+v, %v", got, err)
	}
	f.rotate()
	f.write("")
	f.sign(true)
	if got := f.last(); got.Previous != sha256.Sum256([]byte(text)) {
		t.Errorf("%+v does not name the last checkpoint of the segment before", got)
	}
	if len(f.alarms) > 0 {
		t.Error(f.alarms)
	}
}

func TestAlarms(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tamper func(f *fixture)
		reason string
	}{
		"a message that is no record": {func(f *fixture) { f.write("hello\n") }, "is not a record of a router"},
		"another root for a size": {func(f *fixture) {
			forged := f.last()
			forged.Root[0]++
			forged.Size, forged.Previous = 2, f.last().Digest()
			signed, err := forged.Sign(f.key.Signer)
			if err != nil {
				f.Fatal(err)
			}
			last, err := f.log.LastCheckpoint(f.Context(), f.log.Live())
			if err != nil {
				f.Fatal(err)
			}
			// Without subtrees that fit it is read again.
			if _, err := f.log.AppendCheckpoint(f.Context(), f.log.Live(), store.Checkpoint{Signed: string(signed)}, last.Revision); err != nil {
				f.Fatal(err)
			}
			f.write("")
			f.write("")
		}, "a checkpoint states the root"},
		"a checkpoint that is none": {func(f *fixture) {
			body, err := json.Marshal(store.Checkpoint{Signed: "hello"})
			if err != nil {
				f.Fatal(err)
			}
			last, err := f.log.LastCheckpoint(f.Context(), f.log.Live())
			if err != nil {
				f.Fatal(err)
			}
			subject := store.CheckpointSubject(f.conn, f.log.Live().Name())
			if _, err := f.log.CheckpointNotes().Append(f.Context(), subject, "", last.Revision, body); err != nil {
				f.Fatal(err)
			}
			f.write("")
		}, "can't be read"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.write("")
			f.sign(true)
			c.tamper(f)
			f.sign(true)
			if len(f.alarms) != 1 || !strings.Contains(f.alarms[0], c.reason) {
				t.Errorf("alarms %q; want one with %q", f.alarms, c.reason)
			}
		})
	}
}

func TestKeysAreMadeOnceAndReadAgain(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "made", "audit.key")
	first, err := signer.LoadKey(path)
	if err != nil {
		t.Fatal(err)
	}
	again, err := signer.LoadKey(path)
	if err != nil || again.Public != first.Public {
		t.Errorf("%v, %v", again, err)
	}
	text, err := os.ReadFile(path + ".pub")
	if err != nil || strings.TrimSpace(string(text)) != first.Public {
		t.Errorf("the public half is %q, %v", text, err)
	}
	c := audit.Checkpoint{Format: audit.Latest, Origin: "hooks/HOOKS_AUDIT", Size: 1, Time: time.Unix(0, 0)}
	signed, err := c.Sign(first.Signer)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := (audit.Keys{Routers: []note.Verifier{again.Verifier}}).Open(signed); err != nil {
		t.Error(err)
	}
	if _, err := signer.ParseKey("PRIVATE+KEY+x+0+y"); err == nil {
		t.Error("what is no key was taken")
	}
}
