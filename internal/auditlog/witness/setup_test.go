package witness_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/goleak"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/hookrouter/hookrouter/internal/auditlog/store"
	"github.com/hookrouter/hookrouter/internal/auditlog/witness"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/server/embedded"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

func TestMain(m *testing.M) {
	testkit.Parallel(8) // they wait for checkpoints
	goleak.VerifyTestMain(m)
}

// key is both halves of one.
type key struct {
	note.Signer
	verifier note.Verifier
}

func newKey(t *testing.T, name string) key {
	t.Helper()
	private, public, err := note.GenerateKey(nil, name)
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
	return key{signer, verifier}
}

// bench is a server with an audit log, the router that writes it, and what a witness of
// it needs.
type bench struct {
	t       *testing.T
	server  *embedded.Server
	bus     *natsx.Conn
	js      jetstream.JetStream
	trail   *store.Log
	router  key
	witness key
	state   string
	events  chan witness.Event
	restart func() // starts the server again, on the same files

	format   audit.Format
	history  audit.Log // of the segment
	segment  store.Segment
	previous tlog.Hash
	revision uint64 // of the last checkpoint of the segment
	wseq     int64
	last     []byte // the last checkpoint
}

func newBench(t *testing.T) *bench { return newBenchIn(t, audit.Latest) }

// newBenchIn is a bench whose log has a format. Where a test stores copies of messages,
// which get another time, that is [audit.LineFormat].
func newBenchIn(t *testing.T, f audit.Format) *bench {
	t.Helper()
	dir := natstest.StoreDir(t)
	start := func(listen string) *embedded.Server {
		s, err := embedded.Start(embedded.Options{Listen: listen, StoreDir: dir, NoSync: true})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	b := &bench{t: t, format: f, server: start("127.0.0.1:0"), state: filepath.Join(t.TempDir(), "state.json"), events: make(chan witness.Event, 1000)}
	t.Cleanup(func() { b.server.Stop() })
	addr := strings.TrimPrefix(b.server.ClientURL(), "nats://")
	b.restart = func() {
		b.server.Stop()
		b.server = start(addr)
	}
	b.bus = b.connect()
	var err error
	if b.js, err = jetstream.New(b.bus.Conn()); err != nil {
		t.Fatal(err)
	}
	if b.trail, err = store.Open(t.Context(), b.bus, 0); err != nil {
		t.Fatal(err)
	}
	b.segment = b.trail.Live()
	b.router, b.witness = newKey(t, "hook-router"), newKey(t, "witness.example")
	return b
}

func (b *bench) connect() *natsx.Conn {
	b.t.Helper()
	c, err := natsx.Connect(natsx.Options{URL: b.server.ClientURL(), NATS: []nats.Option{nats.ReconnectWait(20 * time.Millisecond)}})
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(c.Close)
	return c
}

func (b *bench) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// write appends messages of two records.
func (b *bench) write(n int, text string) {
	b.t.Helper()
	for range n {
		b.append(b.message(text))
	}
}

func (b *bench) message(text string) (body []byte) {
	for range 2 {
		b.wseq++
		body = audit.Record{
			Time: time.Unix(0, 0), Kind: audit.HookResult, ChainID: "c", Event: "tool:pre", Hook: "guard", Action: "deny",
			Detail: audit.Call{Reason: text}, Writer: "router-1", WSeq: b.wseq,
		}.Append(body)
	}
	return body
}

func (b *bench) append(body []byte) {
	b.t.Helper()
	ack, err := b.js.Publish(b.t.Context(), b.bus.Of("audit", "w", "router-1"), body)
	b.must(err)
	rec, err := b.segment.Get(b.t.Context(), ack.Sequence)
	b.must(err)
	b.must(b.history.Append(audit.Message{Subject: rec.Subject, Stored: rec.Time, Body: rec.Body}))
}

// sign appends a checkpoint over what was written.
func (b *bench) sign() {
	b.t.Helper()
	b.signWith(b.router, b.checkpoint())
}

// checkpoint states what was written.
func (b *bench) checkpoint() audit.Checkpoint {
	return b.history.Checkpoint(b.format, b.origin(), time.Now(), b.previous)
}

func (b *bench) origin() string { return audit.Origin(b.bus.Prefix(), b.segment.Name()) }

func (b *bench) signWith(k key, c audit.Checkpoint) {
	b.t.Helper()
	signed, err := c.Sign(k)
	b.must(err)
	b.revision, err = b.trail.AppendCheckpoint(b.t.Context(), b.segment, store.Checkpoint{Signed: string(signed), Subtrees: b.history.Subtrees(b.format)}, b.revision)
	b.must(err)
	b.previous, b.last = c.Digest(), signed
}

// rotate closes the segment.
func (b *bench) rotate() {
	b.t.Helper()
	_, err := b.trail.Seal(b.t.Context())
	b.must(err)
	b.segment, b.history, b.revision, b.wseq = b.trail.Live(), audit.Log{}, 0, 0
}

func (b *bench) options() witness.Options {
	return witness.Options{
		Signer: b.witness, Verifier: b.witness.verifier, Routers: []note.Verifier{b.router.verifier}, State: b.state,
		Every: 50 * time.Millisecond, Grace: 100 * time.Millisecond, Retry: 10 * time.Millisecond,
		Tell: func(e witness.Event) {
			select {
			case b.events <- e:
			default:
			}
		},
	}
}

// once goes through the log with a new witness on the state.
func (b *bench) once() error {
	b.t.Helper()
	w, err := witness.New(b.bus, b.options())
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(b.t.Context(), 20*time.Second)
	defer cancel()
	return w.Once(ctx)
}

// run starts a witness on a connection of its own; stop returns how it ended.
func (b *bench) run() (stop func() error, done <-chan error) {
	b.t.Helper()
	return b.runWith(b.options())
}

func (b *bench) runWith(o witness.Options) (stop func() error, done <-chan error) {
	b.t.Helper()
	w, err := witness.New(b.connect(), o)
	b.must(err)
	ctx, cancel := context.WithCancel(b.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	b.t.Cleanup(cancel)
	return func() error { cancel(); return b.wait(ended) }, ended
}

func (b *bench) wait(done <-chan error) error {
	b.t.Helper()
	select {
	case err := <-done:
		return err
	case <-time.After(20 * time.Second):
		b.t.Fatal("the witness did not end within 20 s")
		return nil
	}
}

// waiting waits until the witness says that it waits for something.
func (b *bench) waiting(what string) {
	b.t.Helper()
	end := time.After(20 * time.Second)
	for {
		select {
		case e := <-b.events:
			if e.Kind == "waiting" && strings.Contains(e.Text, what) {
				return
			}
		case <-end:
			b.t.Fatalf("the witness did not say that %q", what)
		}
	}
}

// published is the last that the witness has signed for a segment, 0 for nothing.
func (b *bench) published(segment string) int64 {
	b.t.Helper()
	rec, err := b.trail.CheckpointNotes().Newest(b.t.Context(), store.CosignedSubject(b.bus, segment, witness.ID(b.witness.verifier)))
	if errors.Is(err, natsx.ErrNoKey) {
		return 0
	}
	b.must(err)
	c, witnessed, err := (audit.Keys{Routers: []note.Verifier{b.router.verifier}, Witnesses: []note.Verifier{b.witness.verifier}}).Open(rec.Body)
	b.must(err)
	if !witnessed {
		b.t.Fatal("what was published does not have the witness's signature")
	}
	return c.Size
}

// cosigned counts what the witness has published.
func (b *bench) cosigned() (n int) {
	b.t.Helper()
	s, err := b.js.Stream(b.t.Context(), store.CheckpointStream(b.bus))
	b.must(err)
	info, err := s.Info(b.t.Context(), jetstream.WithSubjectFilter(b.bus.Of("cosigned", ">")))
	b.must(err)
	for _, count := range info.State.Subjects {
		n += int(count)
	}
	return n
}

// until waits until the witness has published a size.
func (b *bench) until(segment string, size int64) {
	b.t.Helper()
	end := time.After(20 * time.Second)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for b.published(segment) < size {
		select {
		case <-tick.C:
		case <-end:
			b.t.Fatalf("the witness did not sign size %d of %s; the last is %d", size, segment, b.published(segment))
		}
	}
}

// wantRefusal checks a refusal, its proof, and that the witness stays with it.
func (b *bench) wantRefusal(err error, reason string) (refusal *witness.Refusal) {
	b.t.Helper()
	refusal, ok := errors.AsType[*witness.Refusal](err)
	if !ok || !strings.Contains(refusal.Reason, reason) {
		b.t.Fatalf("the witness said %v; want a refusal with %q", err, reason)
	}
	text, err := os.ReadFile(b.state + ".fork.json")
	b.must(err)
	var kept witness.Refusal
	b.must(json.Unmarshal(text, &kept))
	if kept.Reason != refusal.Reason || kept.Found != refusal.Found || kept.Signed != refusal.Signed {
		b.t.Errorf("the proof on disk is another than the one returned: %s", text)
	}
	before := b.cosigned()
	if _, ok := errors.AsType[*witness.Refusal](b.once()); !ok {
		b.t.Error("started again, the witness does not refuse")
	}
	if b.cosigned() != before {
		b.t.Error("it signed after it refused")
	}
	return refusal
}

// recreate replaces a stream by an empty one of the same settings.
func (b *bench) recreate(name string) {
	b.t.Helper()
	s, err := b.js.Stream(b.t.Context(), name)
	b.must(err)
	config := s.CachedInfo().Config
	b.must(b.js.DeleteStream(b.t.Context(), name))
	_, err = b.js.CreateStream(b.t.Context(), config)
	b.must(err)
	b.segment.Stream, err = b.bus.OpenStream(b.t.Context(), b.segment.Name())
	b.must(err)
}
