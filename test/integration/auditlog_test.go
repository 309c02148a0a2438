package integration

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/mod/sumdb/note"

	"github.com/hookrouter/hookrouter/internal/auditlog"
	"github.com/hookrouter/hookrouter/internal/auditlog/query"
	"github.com/hookrouter/hookrouter/internal/auditlog/recorder"
	"github.com/hookrouter/hookrouter/internal/auditlog/signer"
	"github.com/hookrouter/hookrouter/internal/auditlog/store"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// retune changes the settings of the audit stream, as an administrator could.
func retune(t *testing.T, ctx context.Context, nc *nats.Conn, change func(*jetstream.StreamConfig)) {
	t.Helper()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := js.Stream(ctx, "HOOKS_AUDIT")
	if err != nil {
		t.Fatal(err)
	}
	config := stream.CachedInfo().Config
	change(&config)
	if _, err := js.UpdateStream(ctx, config); err != nil {
		t.Fatal(err)
	}
}

// fill makes the audit stream take nothing more, as a full disk does.
func fill(t *testing.T, ctx context.Context, nc *nats.Conn) {
	retune(t, ctx, nc, func(c *jetstream.StreamConfig) { c.MaxBytes = 1 })
}

// emitted sends an event and returns the answer's code, or "gone" where nobody answers.
func emitted(t *testing.T, ctx context.Context, nc *nats.Conn, name string) (string, *nats.Msg) {
	t.Helper()
	m, err := nc.RequestWithContext(ctx, "hooks.emit."+name, []byte(`{"session_id":"s"}`))
	if errors.Is(err, nats.ErrNoResponders) {
		return "gone", nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return code(m), m
}

func TestNothingIsAnsweredThatIsNotRecorded(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	r, _ := routertest.Start(t, s, router.Options{Audit: auditlog.Options{Recorder: recorder.Options{Timeout: 500 * time.Millisecond}}})
	nc := natstest.Conn(t, s)
	ctx := testkit.Within(t, 60*time.Second)
	calls := make(chan call, 64)
	hook(t, ctx, nc, "h", `{"events":["e"]}`, recorded(calls, "h", `{"action":"continue"}`))
	hook(t, ctx, nc, "asks", `{"events":["tool:pre"]}`, says(`{"action":"ask_user"}`))
	fill(t, ctx, nc)
	if m := request(t, ctx, nc, "hooks.execute.tool.pre", nil, `{}`); code(m) != "503" {
		t.Errorf("an approval request that can't be recorded is answered with %v %s", m.Header, m.Data)
	}
	if list := request(t, ctx, nc, "hooks.approvals", nil, ``); string(list.Data) != "[]" {
		t.Errorf("an approval request that is not recorded is asked: %s", list.Data)
	}
	began := time.Now()
	got, m := emitted(t, ctx, nc, "e")
	if took := time.Since(began); got != "503" || len(m.Data) > 0 || took > 2*time.Second {
		t.Fatalf("after %v the answer is %s %v %s", took, got, m.Header, m.Data)
	}
	if refusal := request(t, ctx, nc, "hooks.register.g", nil, `{"events":["e"]}`); code(refusal) != "503" {
		t.Errorf("a registration that can't be recorded is answered with %v %s", refusal.Header, refusal.Data)
	}
	testkit.Until(t, ctx, "the router says that it is not ready", func() bool { return r.Ready() != nil })
	testkit.Until(t, ctx, "NATS says at once that nobody answers", func() bool { got, _ := emitted(t, ctx, nc, "e"); return got == "gone" })
	retune(t, ctx, nc, func(c *jetstream.StreamConfig) { c.MaxBytes = -1 })
	testkit.Until(t, ctx, "the router answers again", func() bool { got, _ := emitted(t, ctx, nc, "e"); return got == "" })
	refused := 0
	for _, one := range auditLog(t, ctx, nc, "HOOKS_AUDIT") {
		if one.Kind == "chain.refused" {
			refused++
		}
	}
	if refused == 0 {
		t.Error("the log does not say that the agent was refused")
	}
	if strings.Contains(string(request(t, ctx, nc, "hooks.registry", nil, ``).Data), `"id":"g"`) {
		t.Error("the registration that was refused counts")
	}
}

func TestOnlyStrictAuditWaits(t *testing.T) {
	t.Parallel()
	for mode, want := range map[recorder.Mode]string{recorder.Async: "async", recorder.Off: "off"} {
		t.Run(want, func(t *testing.T) {
			s := natstest.Server(t)
			r, _ := routertest.Start(t, s, router.Options{Audit: auditlog.Options{Recorder: recorder.Options{Mode: mode}}})
			nc := natstest.Conn(t, s)
			ctx := testkit.Within(t, 30*time.Second)
			fill(t, ctx, nc)
			for range 3 {
				if got, m := emitted(t, ctx, nc, "e"); got != "" || m.Header.Get("Hook-Audit") != want {
					t.Fatalf("the answer is %s %v", got, m.Header)
				}
			}
			if err := r.Ready(); err != nil {
				t.Error(err)
			}
			retune(t, ctx, nc, func(c *jetstream.StreamConfig) { c.MaxBytes = -1 })
			hook(t, ctx, nc, "h", `{"events":["tool:pre"]}`, says(`{"action":"ask_user","approval_default":"allow","approval_timeout":0.05}`))
			executed(t, nc, "tool.pre", event("q"), `{}`) // decisions are recorded in every mode
			testkit.Until(t, ctx, "what is to be recorded is recorded", func() bool {
				list := steps(auditLog(t, ctx, nc, "HOOKS_AUDIT"))
				decided, chains := 0, 0
				for _, one := range list {
					switch {
					case strings.HasPrefix(one, "approval.decided"):
						decided++
					case strings.HasPrefix(one, "chain.result"):
						chains++
					}
				}
				return decided == 1 && (mode == recorder.Async) == (chains == 4) && (mode == recorder.Off) == (chains == 0)
			})
		})
	}
}

func TestAStreamThatIsNotAppendOnlyIsNotServed(t *testing.T) {
	waiting := early(t)
	s := natstest.Server(t)
	nc := natstest.Conn(t, s)
	ctx := testkit.Within(t, 60*time.Second)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	_, err = js.CreateStream(ctx, jetstream.StreamConfig{
		Name: "HOOKS_AUDIT", Subjects: []string{"hooks.audit.>"}, MaxAge: time.Hour, DenyDelete: true, AllowDirect: true, Discard: jetstream.DiscardNew,
	})
	if err != nil {
		t.Fatal(err)
	}
	r, _ := routertest.Start(t, s, router.Options{})
	why := fmt.Sprint(r.Ready())
	for _, setting := range []string{"max_age is 1h0m0s", "deny_purge is false", "allow_direct is true"} {
		if !strings.Contains(why, setting) || strings.Contains(why, "deny_delete") {
			t.Errorf("the router says of its readiness: %s", why)
		}
	}
	testkit.Until(t, ctx, "agents are left to other replicas", func() bool { got, _ := emitted(t, ctx, nc, "e"); return got == "gone" })
	retune(t, ctx, nc, func(c *jetstream.StreamConfig) { c.MaxAge, c.DenyPurge, c.AllowDirect = 0, true, false })
	waiting() // the router looks again in 5 s
	testkit.Until(t, ctx, "the router serves again", func() bool { got, _ := emitted(t, ctx, nc, "e"); return got == "" })
	list := steps(auditLog(t, ctx, nc, "HOOKS_AUDIT"))
	if list[0] != "log  drifted" || !slices.Contains(list, "log  restored") {
		t.Errorf("the log has %q", list)
	}
}

// auditKey makes a key that signs.
func auditKey(t *testing.T) *signer.Key {
	t.Helper()
	key, err := signer.LoadKey(filepath.Join(t.TempDir(), "audit.key"))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// verified exports a segment and verifies the export.
func verified(t *testing.T, ctx context.Context, s nats.InProcessConnProvider, number int, key *signer.Key, o audit.Options) (audit.Report, []byte) {
	t.Helper()
	return verifiedAfter(t, ctx, s, number, key, 10*time.Second, o)
}

// verifiedAfter waits so long for a checkpoint that covers everything.
func verifiedAfter(t *testing.T, ctx context.Context, s nats.InProcessConnProvider, number int, key *signer.Key, wait time.Duration, o audit.Options) (audit.Report, []byte) {
	t.Helper()
	b, err := natsx.Connect(natsx.Options{InProcess: s})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	log, err := query.Open(ctx, b)
	if err != nil {
		t.Fatal(err)
	}
	segment, err := log.Segment(ctx, number)
	if err != nil {
		t.Fatal(err)
	}
	aim, err := log.FindExportEnd(ctx, segment, wait, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	w, err := audit.NewWriter(&file, log.Header(segment))
	if err != nil {
		t.Fatal(err)
	}
	if err := log.Export(ctx, w, aim, func(int64) {}); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	o.Keys = []note.Verifier{key.Verifier}
	report, err := audit.Verify(ctx, bytes.NewReader(file.Bytes()), o)
	if err != nil {
		t.Fatal(err)
	}
	return report, file.Bytes()
}

// Two routers write, an operator closes segments meanwhile: every answer is in the log,
// and the log can be proved.
func TestTheLogOfSeveralRoutersAndSegmentsIsProved(t *testing.T) {
	waiting := early(t)
	s := natstest.Server(t)
	key := auditKey(t)
	o := router.Options{Audit: auditlog.Options{Key: key, Recorder: recorder.Options{Timeout: 5 * time.Second}}}
	routertest.Start(t, s, o)
	_, stop := routertest.Start(t, s, o)
	nc := natstest.Conn(t, s)
	ctx := testkit.Within(t, 60*time.Second)
	hook(t, ctx, nc, "h", `{"events":["e"]}`, says(`{"action":"modify","data":{"session_id":"s","done":true}}`))

	var answers sync.Map
	var count atomic.Int64
	emitting, done := context.WithCancel(ctx)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for emitting.Err() == nil {
				m, err := nc.RequestWithContext(ctx, "hooks.emit.e", []byte(`{"session_id":"s"}`))
				if err == nil && code(m) == "" {
					answers.Store(m.Header.Get("Hook-Chain-Id"), true)
					count.Add(1)
				} else if !errors.Is(err, nats.ErrNoResponders) {
					t.Errorf("%v %v", m, err)
				}
			}
		})
	}
	b, err := natsx.Connect(natsx.Options{InProcess: s})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	operator, err := store.Open(ctx, b, 1)
	if err != nil {
		t.Fatal(err)
	}
	more := int64(testkit.Volume(t, 40, 100, 100))
	for range 2 {
		want := count.Load() + more
		testkit.Until(t, ctx, "events are answered", func() bool { return count.Load() > want })
		if _, err := operator.Seal(ctx); err != nil {
			t.Fatal(err)
		}
	}
	want := count.Load() + more
	testkit.Until(t, ctx, "events are answered", func() bool { return count.Load() > want })
	stop()
	done()
	wg.Wait()
	waiting() // the router that is left signs the end 3 s after the other's last signature

	records := map[string]int{}
	var previous *audit.Checkpoint
	for number, segment := range []string{"HOOKS_AUDIT", "HOOKS_AUDIT_2", "HOOKS_AUDIT_3"} {
		var options audit.Options
		if previous != nil {
			options.Previous = previous.Digest()
		}
		report, _ := verified(t, ctx, s, number+1, key, options)
		if report.Verdict != audit.OKUnanchored || report.Messages == 0 {
			t.Errorf("%s: %v", segment, report)
		}
		previous = report.Head
		for _, one := range auditLog(t, ctx, nc, segment) {
			if one.Kind == "chain.result" {
				records[one.Chain]++
			}
		}
	}
	answers.Range(func(id, _ any) bool {
		if records[id.(string)] != 1 {
			t.Errorf("the answer %s stands %d times in the log", id, records[id.(string)])
		}
		return true
	})
	t.Logf("%d answers, %d chains in the log", count.Load(), len(records))
}

// Who writes as a router has not written for it.
func TestAWriterThatIsImpersonatedGoesOnUnderAnotherName(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	key := auditKey(t)
	routertest.Start(t, s, router.Options{Audit: auditlog.Options{Key: key}})
	nc := natstest.Conn(t, s)
	ctx := testkit.Within(t, 30*time.Second)
	if got, _ := emitted(t, ctx, nc, "e"); got != "" {
		t.Fatal(got)
	}
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := js.Stream(ctx, "HOOKS_AUDIT")
	if err != nil {
		t.Fatal(err)
	}
	first, err := stream.GetMsg(ctx, 1)
	if err != nil {
		t.Fatal(err)
	}
	forged := audit.Record{Time: time.Now(), Kind: audit.ChainResult, Action: "continue"}.Append(nil)
	if _, err := js.Publish(ctx, first.Subject, forged); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if got, _ := emitted(t, ctx, nc, "e"); got != "" {
			t.Fatal(got)
		}
	}
	last, err := stream.GetLastMsgForSubject(ctx, first.Subject+".2")
	if err != nil || last.Sequence != 5 {
		t.Errorf("the next records are not those of another writer: %v %v", last, err)
	}
	if report, _ := verified(t, ctx, s, 1, key, audit.Options{}); !report.Verdict.OK() {
		t.Error(report)
	}
}

// A log that was replaced is not signed on.
func TestALogThatWasReplacedRaisesAnAlarm(t *testing.T) {
	waiting := early(t)
	s := natstest.Server(t)
	key := auditKey(t)
	_, stop := routertest.Start(t, s, router.Options{Audit: auditlog.Options{Key: key}})
	nc := natstest.Conn(t, s)
	ctx := testkit.Within(t, 60*time.Second)
	for range 3 {
		emitted(t, ctx, nc, "e")
	}
	stop()
	before, _ := verified(t, ctx, s, 1, key, audit.Options{})
	if before.Head == nil || before.Head.Size != 3 {
		t.Fatalf("the router left without signing what it wrote: %v", before)
	}
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	if err := js.DeleteStream(ctx, "HOOKS_AUDIT"); err != nil {
		t.Fatal(err)
	}
	said := make(chan string, 100)
	other := auditKey(t) // does not trust what the first has signed without a look
	routertest.Start(t, s, router.Options{Audit: auditlog.Options{Key: other}, Log: catching(said)})
	for range 4 {
		emitted(t, ctx, nc, "e")
	}
	waiting() // it looks at the log 3 s after the last signature
	for {
		if line := take(t, ctx, said); strings.Contains(line, "ALARM") {
			break
		}
	}
	testkit.Until(t, ctx, "the alarm is recorded", func() bool {
		list := auditLog(t, ctx, nc, "HOOKS_AUDIT")
		return list[len(list)-1].String() == "log  alarm"
	})
	after, _ := verifiedAfter(t, ctx, s, 1, key, 500*time.Millisecond, audit.Options{}) // nobody signs it
	if after.Verdict.OK() {
		t.Error(after)
	}

	b, err := natsx.Connect(natsx.Options{InProcess: s})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	operator, err := store.Open(ctx, b, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := operator.Seal(ctx); err != nil {
		t.Fatal(err)
	}
	testkit.Until(t, ctx, "events are answered in the next segment", func() bool { got, _ := emitted(t, ctx, nc, "e"); return got == "" })
	anew, _ := verified(t, ctx, s, 2, other, audit.Options{Previous: before.Head.Digest()})
	if anew.Verdict != audit.OKUnanchored {
		t.Errorf("the segment after the bad one: %v", anew)
	}
}

// catching is a log whose lines come on a channel.
func catching(lines chan<- string) *slog.Logger {
	return slog.New(slog.NewTextHandler(writerFunc(func(line []byte) (int, error) {
		select {
		case lines <- string(line):
		default:
		}
		return len(line), nil
	}), nil))
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }
