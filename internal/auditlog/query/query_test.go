package query_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/hookrouter/hookrouter/internal/auditlog/query"
	"github.com/hookrouter/hookrouter/internal/auditlog/store"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/server/embedded"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// writer writes a log as routers do.
type writer struct {
	t        *testing.T
	bus      *natsx.Conn
	trail    *store.Log
	signer   note.Signer
	verifier note.Verifier
	log      audit.Log
	previous tlog.Hash
	revision uint64
}

func newWriter(t *testing.T, url string) *writer {
	t.Helper()
	b := natstest.Connect(t, natsx.Options{URL: url})
	tr, err := store.Open(t.Context(), b, 1)
	if err != nil {
		t.Fatal(err)
	}
	private, public, err := note.GenerateKey(rand.NewChaCha8([32]byte{1}), "router")
	if err != nil {
		t.Fatal(err)
	}
	signer, err := note.NewSigner(private)
	if err != nil {
		t.Fatal(err)
	}
	verifier, err := note.NewVerifier(public)
	if err != nil {
		t.Fatal(err)
	}
	return &writer{t: t, bus: b, trail: tr, signer: signer, verifier: verifier}
}

func (w *writer) write(records ...audit.Record) {
	w.t.Helper()
	var body []byte
	for _, r := range records {
		body = r.Append(body)
	}
	subject := w.bus.Of("audit", "w", fmt.Sprint(w.log.Size()))
	seq, err := w.trail.Live().Append(w.t.Context(), subject, "", 0, body)
	if err != nil {
		w.t.Fatal(err)
	}
	rec, err := w.trail.Live().Get(w.t.Context(), seq)
	if err != nil {
		w.t.Fatal(err)
	}
	if err := w.log.Append(audit.Message{Subject: rec.Subject, Stored: rec.Time, Body: rec.Body}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *writer) sign() {
	w.t.Helper()
	c := w.log.Checkpoint(audit.Latest, audit.Origin(w.bus.Prefix(), w.trail.Live().Name()), time.Now(), w.previous)
	signed, err := c.Sign(w.signer)
	if err != nil {
		w.t.Fatal(err)
	}
	w.previous = c.Digest()
	if w.revision, err = w.trail.AppendCheckpoint(w.t.Context(), w.trail.Live(), store.Checkpoint{Signed: string(signed)}, w.revision); err != nil {
		w.t.Fatal(err)
	}
}

func open(t *testing.T, b *natsx.Conn) *query.Log {
	t.Helper()
	l, err := query.Open(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestDecodeReadsWhatRecordsWrite(t *testing.T) {
	line := func(d audit.Detail, kind audit.Kind) []byte {
		r := audit.Record{Time: time.UnixMilli(1), Kind: kind, ChainID: "c", Session: "s", Event: "e", Hook: "h", Action: "a", EventID: "i", Writer: "w", WSeq: 3, Detail: d}
		return bytes.TrimSuffix(r.Append(nil), []byte("\n"))
	}
	r := query.Decode(line(audit.Call{FailedOpen: true, Failure: "timeout", Took: time.Millisecond, Data: &audit.Data{SHA256: "x", Redacted: true, Value: []byte(`{"n":12345678901234567890}`)}}, audit.HookTimeout))
	if r.Err != nil || !r.FailedOpen || r.Micros != 1000 || string(r.Data.Value) != `{"n":12345678901234567890}` || r.WSeq != 3 || r.Writer != "w" || !r.OfHook() {
		t.Errorf("%+v", r)
	}
	r = query.Decode(line(audit.ApprovalRequest{ApprovalID: "q", Options: []string{"a", "b"}, Expires: time.UnixMilli(5)}, audit.ApprovalRequested))
	if r.Err != nil || r.ApprovalID != "q" || len(r.Options) != 2 || r.Expires.UnixMilli() != 5 {
		t.Errorf("%+v", r)
	}
	r = query.Decode(line(audit.Decision{ApprovalID: "q", Granted: true, DecidedBy: "a"}, audit.ApprovalDecided))
	if r.Err != nil || !r.Granted || r.DecidedBy != "a" {
		t.Errorf("%+v", r)
	}
}

func TestDecodeOfWhatIsNoRecordSaysSo(t *testing.T) {
	good := string(bytes.TrimSuffix(audit.Record{Time: time.UnixMilli(1), Kind: "x"}.Append(nil), []byte("\n")))
	for name, text := range map[string]string{
		"no JSON": "hello", "an empty line": "", "no member": "{}",
		"another type":              strings.TrimSuffix(good, "}") + `,"us":"1"}`,
		"the same member twice":     strings.TrimSuffix(good, "}") + `,"us":1,"us":2}`,
		"a time that is none":       strings.Replace(good, "1970", "x", 1),
		"the same member, deep in":  strings.TrimSuffix(good, "}") + `,"data":{"sha256":"a","sha256":"b"}}`,
		"a record in other letters": strings.Replace(good, `"kind"`, `"Kind"`, 1),
	} {
		r := query.Decode([]byte(text))
		if r.Err == nil || r.Kind != "" || string(r.Line) != text {
			t.Errorf("%s: %+v", name, r)
		}
		if !(query.Filter{Session: "nobody's"}).Match(&r) {
			t.Errorf("%s: it is passed over", name)
		}
	}
	if r := query.Decode([]byte(strings.TrimSuffix(good, "}") + `,"Failed_Open":true,"new":{"a":1}}`)); r.Err != nil || r.FailedOpen {
		t.Errorf("members of later versions: %+v", r)
	}
}

func TestWhatIsWantedIsFoundHoweverItIsSpelled(t *testing.T) {
	w := newWriter(t, natstest.Listening(t).ClientURL())
	plain := audit.Record{Time: time.Now(), Kind: audit.LogKind, Session: "a\"b/c é", Hook: "guard"}
	w.write(plain)
	body := bytes.ReplaceAll(plain.Append(nil), []byte("guard"), []byte(`gu\u0061rd`))
	if _, err := w.trail.Live().Append(t.Context(), w.bus.Of("audit", "w", "foreign"), "", 0, body); err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]query.Filter{
		"nothing": {}, "a word with an escape": {Hook: "guard"}, "a word that must be escaped": {Session: "a\"b/c é"}, "both": {Session: "a\"b/c é", Hook: "guard"},
	} {
		n := 0
		err := open(t, w.bus).Query(t.Context(), f, func(r query.Record) error {
			n++
			return r.Err
		})
		if err != nil || n != 2 {
			t.Errorf("%s: %d records, %v", name, n, err)
		}
	}
}

func TestReadingGoesOnAfterNATSWasAway(t *testing.T) {
	dir := t.TempDir()
	start := func(addr string) *embedded.Server {
		t.Helper()
		s, err := embedded.Start(embedded.Options{Listen: addr, StoreDir: dir, NoSync: true})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := start("127.0.0.1:0")
	addr := strings.TrimPrefix(s.ClientURL(), "nats://")
	w := newWriter(t, s.ClientURL())
	w.write(audit.Record{Kind: audit.LogKind, Hook: "before"})
	l := open(t, w.bus)

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	hooks, done := make(chan string, 10), make(chan error, 1)
	go func() {
		done <- l.Follow(ctx, query.Position{Segment: 1}, query.Filter{}, func(r query.Record) error {
			hooks <- r.Hook
			return nil
		})
	}()
	next := func(want string) {
		t.Helper()
		select {
		case got := <-hooks:
			if got != want {
				t.Fatalf("got %s, want %s", got, want)
			}
		case err := <-done:
			t.Fatalf("it ended: %v", err)
		case <-time.After(60 * time.Second):
			t.Fatalf("no %s", want)
		}
	}
	next("before")
	s.Stop()
	s = start(addr)
	t.Cleanup(s.Stop)
	back := newWriter(t, s.ClientURL())
	back.log = w.log
	back.write(audit.Record{Kind: audit.LogKind, Hook: "after"})
	next("after")
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestALargeLogIsExportedWithAllItsCheckpoints(t *testing.T) {
	w := newWriter(t, natstest.Listening(t).ClientURL())
	const messages = 1500
	for i := range messages {
		w.write(audit.Record{Time: time.Now(), Kind: audit.HookResult, ChainID: fmt.Sprint(i), Detail: audit.Call{Reason: strings.Repeat("x", 2000)}})
		w.sign() // more of them than a cursor keeps
	}
	l := open(t, w.bus)
	s, err := l.Segment(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	aim, err := l.FindExportEnd(t.Context(), s, 0, func(string) {})
	if err != nil || !aim.Covered || aim.To != messages {
		t.Fatalf("%+v, %v", aim, err)
	}
	var file bytes.Buffer
	out, err := audit.NewWriter(&file, l.Header(s))
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Export(t.Context(), out, aim, func(int64) {}); err != nil {
		t.Fatal(err)
	}
	report, err := audit.Verify(t.Context(), &file, audit.Options{Keys: []note.Verifier{w.verifier}})
	if err != nil || report.Verdict != audit.OKUnanchored || report.Checkpoints != messages {
		t.Errorf("%+v, %v", report, err)
	}
	n := 0
	err = l.QueryNewest(t.Context(), query.Filter{}, func(r query.Record) error {
		if n++; r.ChainID != fmt.Sprint(messages-n) {
			t.Fatalf("record %d from the end is of chain %s", n, r.ChainID)
		}
		return nil
	})
	if err != nil || n != messages {
		t.Errorf("%d records, %v", n, err)
	}
}
