package recorder_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/hookrouter/hookrouter/internal/auditlog/recorder"
	"github.com/hookrouter/hookrouter/internal/auditlog/store"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// world is a writer that runs, and its stream as an administrator sees it.
type world struct {
	*recorder.Writer
	stream jetstream.Stream
	js     jetstream.JetStream
	ctx    context.Context
	stop   func()
}

func start(t *testing.T, o recorder.Options, client ...nats.Option) *world {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	s := natstest.Listening(t)
	b := natstest.Connect(t, natsx.Options{URL: s.ClientURL(), NATS: client})
	log, err := store.Open(ctx, b, 1)
	if err != nil {
		t.Fatal(err)
	}
	o.ID = "w"
	w := &world{Writer: recorder.New(b, log, o), ctx: ctx}
	if w.js, err = jetstream.New(natstest.Conn(t, s)); err != nil {
		t.Fatal(err)
	}
	if w.stream, err = w.js.Stream(ctx, "HOOKS_AUDIT"); err != nil {
		t.Fatal(err)
	}
	running, end := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() { defer close(done); w.Run(running) }()
	w.stop = func() { end(); <-done }
	t.Cleanup(w.stop)
	return w
}

// full makes the stream take nothing, or everything again.
func (w *world) full(t *testing.T, full bool) {
	t.Helper()
	config := w.stream.CachedInfo().Config
	if full {
		config.MaxBytes = 1
	}
	if _, err := w.js.UpdateStream(w.ctx, config); err != nil {
		t.Fatal(err)
	}
}

// messages are the stream's, each proved to follow the one before.
func (w *world) messages(t *testing.T) (bodies []string) {
	t.Helper()
	info, err := w.stream.Info(w.ctx)
	if err != nil {
		t.Fatal(err)
	}
	var log audit.Log
	for seq := range info.State.LastSeq {
		m, err := w.stream.GetMsg(w.ctx, seq+1)
		if err != nil {
			t.Fatal(err)
		}
		if err := log.Append(audit.Message{Subject: m.Subject, Stored: m.Time, Body: m.Data}); err != nil {
			t.Fatal(err)
		}
		bodies = append(bodies, string(m.Data))
	}
	return bodies
}

func record(n int, reason string) []byte {
	return audit.Record{Time: time.Now(), Kind: audit.LogKind, Action: fmt.Sprint(n), Detail: audit.Note{Reason: reason}}.Append(nil)
}

// TestRecordsOfAnySize: an agent chooses how large a record gets. None, and none beside it, is
// lost, and each message has records.
func TestRecordsOfAnySize(t *testing.T) {
	t.Parallel()
	w := start(t, recorder.Options{Timeout: 10 * time.Second})
	overhead, n := len(record(1, "")), 0
	for _, size := range []int{256<<10 - 1, 256 << 10, 256<<10 + 1, 600 << 10} {
		for range 3 {
			n++
			for _, reason := range []string{strings.Repeat("x", size-overhead), "after"} {
				if err := w.Record(w.ctx, record(n%10, reason)); err != nil {
					t.Fatalf("a record of %d bytes: %v", size, err)
				}
			}
		}
	}
	lines := 0
	for i, body := range w.messages(t) {
		if body == "" {
			t.Errorf("message %d is empty", i)
		}
		lines += strings.Count(body, "\n")
	}
	if lines != 2*n {
		t.Errorf("the log has %d records; want %d", lines, 2*n)
	}
}

// TestARecordThatNATSRefuses is not tried for ever: it is not answered, and others are written.
func TestARecordThatNATSRefuses(t *testing.T) {
	t.Parallel()
	for _, mode := range []recorder.Mode{recorder.Strict, recorder.Async} {
		w := start(t, recorder.Options{Mode: mode, Timeout: 10 * time.Second})
		large := append(record(1, ""), record(2, strings.Repeat("x", 10<<20))...)
		if err := w.Record(w.ctx, large); !errors.Is(err, recorder.ErrTooLarge) {
			t.Errorf("%s: a record of 10 MiB: %v", mode, err)
		}
		w.Note(large)
		if err := w.Record(w.ctx, record(3, "after")); err != nil {
			t.Errorf("%s: the next record: %v", mode, err)
		}
		w.stop()
		if list := strings.Join(w.messages(t), ""); strings.Count(list, `"lost":2`) != 2 || !strings.Contains(list, "after") || strings.Contains(list, "xxx") {
			t.Errorf("%s: the log has %.500s", mode, list)
		}
	}
}

func TestWhatWaitsIsWrittenTogether(t *testing.T) {
	var wrote []int // by the one who sends
	w := start(t, recorder.Options{Timeout: 20 * time.Millisecond, Wrote: func(records int) { wrote = append(wrote, records) }})
	if lag := w.Lag(); lag != 0 {
		t.Errorf("nothing waits, and the lag is %v", lag)
	}
	w.full(t, true)
	if err := w.Record(w.ctx, record(0, "")); !errors.Is(err, recorder.ErrUnavailable) {
		t.Fatalf("a record that is not written is answered with %v", err)
	}
	for n := range 500 {
		w.Note(record(n+1, ""))
	}
	if lag := w.Lag(); lag < 20*time.Millisecond || lag > 30*time.Second {
		t.Errorf("a record waits since its time was over, and the lag is %v", lag)
	}
	testkit.Eventually(t, "the log is not healthy", func() bool { return w.Healthy() != nil })
	if err := w.Healthy(); err == nil || !strings.Contains(err.Error(), "Free space, then restart the process that runs NATS") {
		t.Errorf("healthy: %v; want what to do about a full disk", err)
	}
	w.full(t, false)
	w.stop()
	if lag := w.Lag(); lag != 0 || !slices.Equal(wrote, []int{1, 500}) {
		t.Errorf("all is written, in messages of %v records, and the lag is %v", wrote, lag)
	}
	list := w.messages(t)
	if text := strings.Join(list, ""); len(list) != 2 || strings.Count(text, "\n") != 501 || !strings.Contains(list[1], `"action":"500"`) {
		t.Errorf("the log has %d messages with %d records", len(list), strings.Count(text, "\n"))
	}
}

func TestARecordWhoseAnswerIsLostStandsOnce(t *testing.T) {
	stall := &natstest.Stall{Subject: "_INBOX."}
	w := start(t, recorder.Options{Timeout: 10 * time.Second}, stall.Option())
	stall.Stop()
	hurried, hurry := context.WithCancel(w.ctx)
	defer hurry()
	first := make(chan error, 1)
	go func() { first <- w.Record(hurried, record(1, "")) }()
	for len(w.messages(t)) == 0 {
		if w.ctx.Err() != nil {
			t.Fatal("it is not written")
		}
	}
	hurry()
	if err := <-first; !errors.Is(err, recorder.ErrUnavailable) {
		t.Errorf("nothing came back, and of the record is said %v", err)
	}
	stall.Go()
	if err := w.Record(w.ctx, record(2, "")); err != nil {
		t.Fatal(err)
	}
	if list := w.messages(t); len(list) != 2 || strings.Count(strings.Join(list, ""), `"action":"1"`) != 1 {
		t.Errorf("the log has %q", list)
	}
}

// TestRetriesArePaced: a writer that starts over under another name does not retry without a pause
// if the log takes nothing then.
func TestRetriesArePaced(t *testing.T) {
	w := start(t, recorder.Options{Timeout: 10 * time.Second})
	if _, err := w.js.Publish(w.ctx, "hooks.audit.w.w", record(0, "")); err != nil {
		t.Fatal(err)
	}
	tries, err := w.js.Conn().SubscribeSync("hooks.audit.w.>")
	if err != nil {
		t.Fatal(err)
	}
	_ = tries.AutoUnsubscribe(50)
	w.full(t, true)
	w.Note(record(1, ""))
	window, cancel := context.WithTimeout(w.ctx, 300*time.Millisecond)
	defer cancel()
	names := map[string]int{}
	for {
		msg, err := tries.NextMsgWithContext(window)
		if err != nil {
			break
		}
		names[msg.Subject]++
	}
	w.full(t, false)
	if again := names["hooks.audit.w.w.2"]; names["hooks.audit.w.w"] != 1 || again == 0 || again > 10 {
		t.Errorf("tries by subject: %v", names)
	}
}

func canceled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

func TestLargeRecordsHaveMessagesOfTheirOwn(t *testing.T) {
	w := start(t, recorder.Options{Timeout: 10 * time.Second})
	var lines []byte
	for n := range 4 {
		lines = append(lines, record(n, strings.Repeat("x", 200<<10))...)
	}
	if err := w.Record(w.ctx, lines); err != nil {
		t.Fatal(err)
	}
	list := w.messages(t)
	for n, body := range list {
		if !strings.Contains(body, fmt.Sprintf(`"action":"%d"`, n)) {
			t.Errorf("message %d is not record %d", n+1, n)
		}
	}
	if len(list) != 4 {
		t.Errorf("the log has %d messages", len(list))
	}
}

func TestWhatFindsNoRoomIsCountedAndTheNumberRecorded(t *testing.T) {
	w := start(t, recorder.Options{Mode: recorder.Async, MaxWaiting: 1 << 20})
	w.full(t, true)
	large := bytes.Repeat(record(0, strings.Repeat("x", 10<<10)), 2)
	for range 400 { // 8 MB, of which 1 MiB finds room
		if err := w.Record(w.ctx, large); err != nil {
			t.Fatal("who does not wait is told ", err)
		}
	}
	w.full(t, false)
	w.Note(record(1, ""))
	w.stop()
	text := strings.Join(w.messages(t), "")
	kept := strings.Count(text, `"action":"0"`)
	if !strings.Contains(text, fmt.Sprintf(`"lost":%d`, 800-kept)) || kept < 90 || kept > 110 {
		t.Errorf("the log has %d of 800 records, and says %s", kept, text[max(0, len(text)-600):])
	}
}

func TestWhatWaitsAtTheEndIsWritten(t *testing.T) {
	w := start(t, recorder.Options{Mode: recorder.Async})
	for n := range 1000 {
		w.Note(record(n, ""))
	}
	w.stop()
	if n := strings.Count(strings.Join(w.messages(t), ""), "\n"); n != 1000 {
		t.Errorf("the log has %d records", n)
	}
	if err := start(t, recorder.Options{}).Record(canceled(), record(1, "")); !errors.Is(err, recorder.ErrUnavailable) {
		t.Errorf("who does not wait any more is told %v", err)
	}
}
