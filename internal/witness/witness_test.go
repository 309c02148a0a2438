package witness_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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

	"github.com/hookrouter/hookrouter/internal/bus"
	"github.com/hookrouter/hookrouter/internal/embedded"
	"github.com/hookrouter/hookrouter/internal/trail"
	"github.com/hookrouter/hookrouter/internal/witness"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

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
	bus     *bus.Bus
	js      jetstream.JetStream
	trail   *trail.Trail
	router  key
	witness key
	state   string
	events  chan witness.Event
	restart func() // starts the server again, on the same files

	history  audit.Log // of the segment
	segment  trail.Segment
	previous tlog.Hash
	revision uint64 // of the last checkpoint of the segment
	wseq     int64
	last     []byte // the last checkpoint
}

func newBench(t *testing.T) *bench {
	t.Helper()
	dir := t.TempDir()
	start := func(listen string) *embedded.Server {
		s, err := embedded.Start(embedded.Options{Listen: listen, StoreDir: dir, NoSync: true})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	b := &bench{t: t, server: start("127.0.0.1:0"), state: filepath.Join(t.TempDir(), "state.json"), events: make(chan witness.Event, 1000)}
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
	if b.trail, err = trail.Open(t.Context(), b.bus, 0); err != nil {
		t.Fatal(err)
	}
	b.segment = b.trail.Live()
	b.router, b.witness = newKey(t, "hook-router"), newKey(t, "witness.example")
	return b
}

func (b *bench) connect() *bus.Bus {
	b.t.Helper()
	c, err := bus.Connect(bus.Options{URL: b.server.ClientURL(), NATS: []nats.Option{nats.ReconnectWait(20 * time.Millisecond)}})
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
			Detail: audit.Hop{Reason: text}, Writer: "router-1", WSeq: b.wseq,
		}.Append(body)
	}
	return body
}

func (b *bench) append(body []byte) {
	b.t.Helper()
	_, err := b.js.Publish(b.t.Context(), b.bus.Of("audit", "w", "router-1"), body)
	b.must(err)
	b.must(b.history.Append(body))
}

// sign appends a checkpoint over what was written.
func (b *bench) sign() {
	b.t.Helper()
	b.signWith(b.router, b.history.Checkpoint(b.origin(), time.Now(), b.previous))
}

func (b *bench) origin() string { return audit.Origin(b.bus.Prefix(), b.segment.Name()) }

func (b *bench) signWith(k key, c audit.Checkpoint) {
	b.t.Helper()
	signed, err := c.Sign(k)
	b.must(err)
	b.revision, err = b.trail.AppendCheckpoint(b.t.Context(), b.segment, trail.Checkpoint{Signed: string(signed), Subtrees: b.history.Subtrees()}, b.revision)
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
	w, err := witness.New(b.connect(), b.options())
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
	rec, err := b.trail.CheckpointNotes().Newest(b.t.Context(), trail.CosignedSubject(b.bus, segment, witness.ID(b.witness.verifier)))
	if errors.Is(err, bus.ErrNoKey) {
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
	s, err := b.js.Stream(b.t.Context(), trail.CheckpointStream(b.bus))
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

func TestAnHonestLogIsSigned(t *testing.T) {
	b := newBench(t)
	b.write(3, "fine")
	b.sign()
	stop, _ := b.run()
	b.until("HOOKS_AUDIT", 3)
	for i := range 5 {
		b.write(2, "fine")
		b.sign()
		b.until("HOOKS_AUDIT", int64(5+2*i))
	}
	b.sign() // the same size again, as a router does that ends
	b.write(1, "fine")
	b.sign()
	b.until("HOOKS_AUDIT", 14)
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if e := <-b.events; e.Kind != "started" {
		t.Errorf("the first event is %+v; want that it started", e)
	}
	if e := <-b.events; e.Kind != "signed" || e.Size != 3 || e.Origin != "hooks/HOOKS_AUDIT" {
		t.Errorf("the second event is %+v; want that it signed size 3", e)
	}
}

func TestAWitnessGoesOnWhereItWas(t *testing.T) {
	b := newBench(t)
	b.write(3, "fine")
	b.sign()
	b.must(b.once())
	for i := range 100 { // a week, in which nobody looked
		b.write(1+i/99*100, "fine")
		b.sign()
	}
	b.must(b.once())
	if got := b.published("HOOKS_AUDIT"); got != 203 {
		t.Errorf("it has signed size %d; want 203", got)
	}
	if got := b.cosigned(); got != 2 {
		t.Errorf("it has published %d signatures; want 2: only the last checkpoint of what it caught up with", got)
	}
	b.must(b.once())
	if got := b.cosigned(); got != 2 {
		t.Errorf("it has published %d signatures; want no more where nothing is new", got)
	}
	info, err := os.Stat(b.state)
	b.must(err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the state has mode %v; want 0600", info.Mode())
	}
}

func TestAWitnessFollowsTheSegments(t *testing.T) {
	b := newBench(t)
	b.write(3, "fine")
	b.sign()
	stop, _ := b.run()
	b.until("HOOKS_AUDIT", 3)
	for i := 2; i <= 4; i++ {
		b.write(1, "fine")
		b.sign()
		b.rotate()
		b.write(2, "fine")
		b.sign()
		b.until(fmt.Sprintf("HOOKS_AUDIT_%d", i), 2)
	}
	if got := b.published("HOOKS_AUDIT"); got != 4 {
		t.Errorf("of the first segment it has signed size %d; want its end, 4", got)
	}
	b.must(stop())
	b.must(b.bus.RemoveStream(t.Context(), "HOOKS_AUDIT"))
	b.write(1, "fine")
	b.sign()
	b.must(b.once())
	b.must(os.Remove(b.state)) // and another one, that has not seen what was removed
	b.must(b.bus.RemoveStream(t.Context(), "HOOKS_AUDIT_2"))
	b.write(1, "fine")
	b.sign()
	b.must(b.once())
	if got := b.published("HOOKS_AUDIT_4"); got != 4 {
		t.Errorf("of the fourth segment it has signed size %d; want 4", got)
	}
}

// TestWhatIsBackInTimeIsNoConflict: a replica that lags shows less for a moment.
func TestWhatIsBackInTimeIsNoConflict(t *testing.T) {
	b := newBench(t)
	b.write(3, "fine")
	b.sign()
	bodies := b.bodies()
	b.must(b.once())
	for len(b.events) > 0 {
		<-b.events
	}
	o := b.options()
	o.Grace = time.Hour
	w, err := witness.New(b.connect(), o)
	b.must(err)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	b.recreate("HOOKS_AUDIT")
	go func() { done <- w.Run(ctx) }()
	b.waiting("ends after message 0, and 3 were seen")
	for _, body := range bodies {
		_, err := b.js.Publish(t.Context(), b.bus.Of("audit", "w", "router-1"), body)
		b.must(err)
	}
	b.write(1, "fine")
	b.sign()
	b.until("HOOKS_AUDIT", 4)
	cancel()
	b.must(b.wait(done))
}

func TestAWitnessOutlivesTheServer(t *testing.T) {
	b := newBench(t)
	b.write(3, "fine")
	b.sign()
	stop, done := b.run()
	b.until("HOOKS_AUDIT", 3)
	b.restart()
	b.bus.Close()
	b.bus = b.connect()
	var err error
	b.js, err = jetstream.New(b.bus.Conn())
	b.must(err)
	b.trail, err = trail.Open(t.Context(), b.bus, 0)
	b.must(err)
	b.segment = b.trail.Live()
	b.write(2, "fine")
	b.sign()
	b.until("HOOKS_AUDIT", 5)
	select {
	case err := <-done:
		t.Fatalf("the witness ended: %v", err)
	default:
	}
	b.must(stop())
}

func TestWhatMustNotBeIsRefused(t *testing.T) {
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
		}, "made anew", false},
		"another history, signed with the router's key": {func(b *bench) {
			b.wseq = 0
			var other audit.Log
			for range 4 {
				b.must(other.Append(b.message("FORGED")))
			}
			b.wseq = 6
			b.write(1, "fine")
			b.signWith(b.router, other.Checkpoint(b.origin(), time.Now(), b.previous))
		}, "not the ones that were signed", true},
		"another root for the size that was signed": {func(b *bench) {
			c := b.history.Checkpoint(b.origin(), time.Now(), b.previous)
			c.Root = tlog.Hash{1}
			b.signWith(b.router, c)
		}, "states the root", true},
		"a smaller checkpoint": {func(b *bench) {
			c := b.history.Checkpoint(b.origin(), time.Now(), b.previous)
			c.Size, c.Writers = 2, nil
			b.signWith(b.router, c)
		}, "size 2 follows one of size 3", true},
		"a checkpoint that was left out": {func(b *bench) {
			b.write(1, "fine")
			b.previous = tlog.Hash{9}
			b.sign()
		}, "predecessor", true},
		"another time of the checkpoint that was signed, and the log goes on from it": {func(b *bench) {
			b.previous = b.history.Checkpoint(b.origin(), time.Unix(1, 0), tlog.Hash{}).Digest()
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
		}, "ends after message 2, and 3 were seen", false},
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
		}, "ends after message 3, and a checkpoint covers 4", true},
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
			_, err := trail.Open(b.t.Context(), b.bus, 0)
			b.must(err)
		}, "is gone", false},
		"checkpoints written anew": {func(b *bench) {
			b.recreate("HOOKS_CHECKPOINTS")
			b.previous, b.revision = tlog.Hash{}, 0
			b.trail, _ = trail.Open(b.t.Context(), b.bus, 0)
			b.sign()
		}, "there is another", true},
		"a message that is no record": {func(b *bench) {
			_, err := b.js.Publish(b.t.Context(), b.bus.Of("audit", "w", "x"), []byte("hello\n"))
			b.must(err)
			c := b.history.Checkpoint(b.origin(), time.Now(), b.previous)
			c.Size = 4
			b.signWith(b.router, c)
		}, "message 4 on hooks.audit.w.x is no record", true},
		"a writer's head that is not its head": {func(b *bench) {
			b.write(1, "fine")
			c := b.history.Checkpoint(b.origin(), time.Now(), b.previous)
			c.Writers[0].WSeq--
			b.signWith(b.router, c)
		}, "heads of the writers", true},
		"a checkpoint of another log": {func(b *bench) {
			c := b.history.Checkpoint("hooks/OTHER", time.Now(), b.previous)
			b.signWith(b.router, c)
		}, "another log", true},
		"a checkpoint that is none": {func(b *bench) {
			_, err := b.js.Publish(b.t.Context(), b.bus.Of("checkpoint", "HOOKS_AUDIT"), []byte("hello"))
			b.must(err)
		}, "can't be read", false},
		"a signature that does not fit": {func(b *bench) {
			body, err := json.Marshal(trail.Checkpoint{Signed: strings.Replace(string(b.last), "\n3\n", "\n4\n", 1)})
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
			_, err = b.bus.CreateStream(b.t.Context(), "HOOKS_AUDIT_2", trail.Subjects(b.bus), 0)
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
		}, "holds 2 of its 3 messages", false},
		"a segment that does not name the one before": {func(b *bench) {
			b.rotate()
			b.previous = tlog.Hash{}
			b.write(1, "fine")
			b.sign()
		}, "predecessor", true},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
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
	b.must(b.segment.Read(b.t.Context(), "", 1, uint64(b.history.Size()), func(rec bus.Record) error {
		list = append(list, rec.Body)
		return nil
	}))
	return list
}

func TestARunningWitnessRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		tamper func(b *bench)
		reason string
	}{
		"a log that is cut though no checkpoint comes": {func(b *bench) { b.recreate("HOOKS_AUDIT") }, "ends after message 0"},
		"a checkpoint with another root": {func(b *bench) {
			c := b.history.Checkpoint(b.origin(), time.Now(), b.previous)
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
	b := newBench(t)
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
	b := newBench(t)
	b.write(3, "fine")
	b.sign()
	o := b.options()
	o.Grace = time.Hour
	w, err := witness.New(b.connect(), o)
	b.must(err)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	b.until("HOOKS_AUDIT", 3)
	late := b.message("fine")
	b.must(b.history.Append(late))
	b.sign()
	b.waiting("ends after message 3, and a checkpoint covers 4")
	_, err = b.js.Publish(t.Context(), b.bus.Of("audit", "w", "router-1"), late)
	b.must(err)
	b.until("HOOKS_AUDIT", 4)
	cancel()
	b.must(b.wait(done))
}

// TestEachAbsenceHasItsOwnGrace: what was missing and came back does not shorten the
// patience with what is missing later.
func TestEachAbsenceHasItsOwnGrace(t *testing.T) {
	b := newBench(t)
	b.write(3, "fine")
	b.sign()
	o := b.options()
	o.Every, o.Grace = time.Hour, 3*time.Second
	w, err := witness.New(b.connect(), o)
	b.must(err)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	b.until("HOOKS_AUDIT", 3)
	for size := int64(4); size <= 5; size++ {
		late := b.message("fine")
		b.must(b.history.Append(late))
		b.sign()
		b.waiting(fmt.Sprintf("ends after message %d, and a checkpoint covers %d", size-1, size))
		_, err = b.js.Publish(t.Context(), b.bus.Of("audit", "w", "router-1"), late)
		b.must(err)
		b.until("HOOKS_AUDIT", size)
		<-time.After(o.Grace)
	}
	cancel()
	b.must(b.wait(done))
}

// TestARefusalHolds: a log that looks well again is not signed before a person took the
// proof away.
func TestARefusalHolds(t *testing.T) {
	b := newBench(t)
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
	s, err := b.js.Stream(b.t.Context(), trail.CheckpointStream(b.bus))
	b.must(err)
	config := s.CachedInfo().Config
	config.MaxMsgs = -1
	if full {
		config.MaxMsgs = int64(s.CachedInfo().State.Msgs)
	}
	_, err = b.js.UpdateStream(b.t.Context(), config)
	b.must(err)
}

// TestACrashBetweenStateAndPublication: what stands in the state is published by the
// next run, though no checkpoint comes; and nothing was published that was not kept.
func TestACrashBetweenStateAndPublication(t *testing.T) {
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
		b.trail, err = trail.Open(t.Context(), b.bus, 0)
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
func (b *bench) notes(kind string) (list []bus.Record) {
	b.t.Helper()
	state, err := b.trail.CheckpointNotes().State(b.t.Context(), trail.CheckpointSubjects(b.bus))
	b.must(err)
	b.must(b.trail.CheckpointNotes().Read(b.t.Context(), b.bus.Of(kind, ">"), 1, state.Last, func(rec bus.Record) error {
		list = append(list, rec)
		return nil
	}))
	return list
}

func TestAnUnknownKeyIsNoFork(t *testing.T) {
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
	b := newBench(t)
	b.write(3, "fine")
	b.sign()
	_, done := b.run()
	b.until("HOOKS_AUDIT", 3)
	b.write(1, "fine")
	c := b.history.Checkpoint(b.origin(), time.Now(), b.previous)
	// A note by the same key that the running witness did not write.
	foreign, err := note.Sign(&note.Note{Text: c.Text()}, b.witness)
	b.must(err)
	_, err = b.js.Publish(t.Context(), trail.CosignedSubject(b.bus, "HOOKS_AUDIT", witness.ID(b.witness.verifier)), foreign)
	b.must(err)
	b.sign()
	if err := b.wait(done); !errors.Is(err, witness.ErrTwice) {
		t.Errorf("it said %v; want that another process has its key", err)
	}
}

func TestUnusableStates(t *testing.T) {
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
		"no directory":                  {func(o *witness.Options) { o.State = filepath.Join(t.TempDir(), "none", "state.json") }, "keep the state"},
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
