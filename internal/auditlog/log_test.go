package auditlog_test

import (
	"context"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats-server/v2/server/ats"
	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/goleak"

	"github.com/hookrouter/hookrouter/internal/auditlog"
	"github.com/hookrouter/hookrouter/internal/auditlog/query"
	"github.com/hookrouter/hookrouter/internal/auditlog/recorder"
	"github.com/hookrouter/hookrouter/internal/auditlog/signer"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

func TestMain(m *testing.M) {
	ats.Register() // outside of every bubble
	goleak.VerifyTestMain(m, goleak.IgnoreCurrent())
}

// world is a log that runs, and its stream as an operator sees it.
type world struct {
	*auditlog.Log
	ctx  context.Context
	conn *natsx.Conn
	js   jetstream.JetStream
	stop func()
}

func start(t *testing.T, o auditlog.Options) *world {
	t.Helper()
	s := natstest.Server(t)
	conn := natstest.Connect(t, natsx.Options{InProcess: s})
	w := &world{ctx: testkit.Within(t, 10*time.Minute), conn: conn}
	o.Recorder.ID = "r1"
	var err error
	if w.Log, err = auditlog.Open(w.ctx, conn, o); err != nil {
		t.Fatal(err)
	}
	if w.js, err = jetstream.New(natstest.Conn(t, s)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); w.Run(ctx) }()
	w.stop = func() { cancel(); <-done }
	t.Cleanup(w.stop)
	return w
}

// record is the line of a result.
func record(chain string) []byte {
	return audit.Record{Time: time.Now(), Kind: audit.ChainResult, ChainID: chain, Session: "s1", Action: "deny"}.Append(nil)
}

// records reads the log.
func (w *world) records(t *testing.T) (list []query.Record) {
	t.Helper()
	log, err := query.Open(w.ctx, w.conn)
	if err != nil {
		t.Fatal(err)
	}
	if err := log.Query(w.ctx, query.Filter{}, func(r query.Record) error { list = append(list, r); return nil }); err != nil {
		t.Fatal(err)
	}
	return list
}

func TestARecordIsInTheLogWhenRecordReturns(t *testing.T) {
	wrote := make(chan int, 8)
	w := start(t, auditlog.Options{Recorder: recorder.Options{Wrote: func(n int) { wrote <- n }}})
	if err := w.Record(w.ctx, record("c1")); err != nil {
		t.Fatal(err)
	}
	list := w.records(t)
	if len(list) != 1 || list[0].ChainID != "c1" || list[0].Action != "deny" {
		t.Errorf("the log has %+v", list)
	}
	if n := testkit.Receive(t, "a count of records", wrote); n != 1 {
		t.Errorf("counted %d records", n)
	}
	if !w.Enabled() || w.Mode() != recorder.Strict || w.Waiting() != 0 || w.Ready() != nil {
		t.Errorf("enabled %v, mode %q, %d waiting, ready: %v", w.Enabled(), w.Mode(), w.Waiting(), w.Ready())
	}
}

func TestNotesAreWrittenBeforeRunReturns(t *testing.T) {
	w := start(t, auditlog.Options{Recorder: recorder.Options{Mode: recorder.Async}})
	w.Note(record("c1"))
	w.stop()
	if list := w.records(t); len(list) != 1 {
		t.Errorf("the log has %+v", list)
	}
}

func TestOffRecordsNothing(t *testing.T) {
	w := start(t, auditlog.Options{Recorder: recorder.Options{Mode: recorder.Off}})
	if err := w.Record(w.ctx, record("c1")); err != nil {
		t.Fatal(err)
	}
	w.stop()
	if list := w.records(t); len(list) != 0 || w.Enabled() {
		t.Errorf("enabled %v, the log has %+v", w.Enabled(), list)
	}
}

// An alarm lasts until its segment is closed, and is recorded again where it is signed.
func TestAnAlarmLastsUntilItsSegmentIsClosed(t *testing.T) {
	key, err := signer.LoadKey(filepath.Join(t.TempDir(), "audit.key"))
	if err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	runtime.GC()
	synctest.Test(t, func(t *testing.T) {
		w := start(t, auditlog.Options{Key: key})
		if w.Alarmed() {
			t.Error("there is an alarm at the start")
		}
		if _, err := w.js.Publish(w.ctx, w.conn.Of("audit", "w", "evil"), []byte("hello")); err != nil {
			t.Fatal(err)
		}
		<-time.After(5 * time.Second)
		if !w.Alarmed() {
			t.Error("there is no alarm about a message that is no record")
		}
		if _, err := w.Store().Seal(w.ctx); err != nil {
			t.Fatal(err)
		}
		<-time.After(10 * time.Second)
		if w.Alarmed() {
			t.Error("the alarm is still there after its segment was closed")
		}
		var segments []int
		for _, r := range w.records(t) {
			if r.Kind == audit.LogKind && r.Action == "alarm" && strings.Contains(r.Reason, "evil is not a record") {
				segments = append(segments, r.Segment)
			}
		}
		if diff := cmp.Diff([]int{1, 2}, segments); diff != "" {
			t.Errorf("segments with the record of the alarm (-want +got):\n%s", diff)
		}
		if _, err := w.Store().LastCheckpoint(w.ctx, w.Store().Live()); err != nil {
			t.Errorf("the next segment is not signed: %v", err)
		}
	})
}

// An operator changes the stream by hand, and repairs it. The log looks every minute, and
// every five seconds while it is not ready.
func TestASettingChangedByHandMakesTheLogNotReady(t *testing.T) {
	runtime.GC()
	runtime.GC()
	synctest.Test(t, func(t *testing.T) {
		w := start(t, auditlog.Options{})
		change := func(set func(*jetstream.StreamConfig)) {
			t.Helper()
			stream, err := w.js.Stream(t.Context(), w.conn.AuditStream())
			if err != nil {
				t.Fatal(err)
			}
			config := stream.CachedInfo().Config
			set(&config)
			if _, err := w.js.UpdateStream(t.Context(), config); err != nil {
				t.Fatal(err)
			}
		}
		change(func(c *jetstream.StreamConfig) { c.MaxAge = 24 * time.Hour })
		<-time.After(time.Minute + time.Second)
		if err := w.Ready(); err == nil || !strings.Contains(err.Error(), w.conn.AuditStream()) || !strings.Contains(err.Error(), "max_age") {
			t.Errorf("after the change the log is ready: %v", err)
		}
		change(func(c *jetstream.StreamConfig) { c.MaxAge = 0 })
		<-time.After(6 * time.Second)
		if err := w.Ready(); err != nil {
			t.Errorf("after the repair the log is not ready: %v", err)
		}
		w.stop()
		var actions []string
		for _, r := range w.records(t) {
			if r.Kind == audit.LogKind {
				actions = append(actions, r.Action)
			}
		}
		if diff := cmp.Diff([]string{"drifted", "restored"}, actions); diff != "" {
			t.Errorf("records of the log itself (-want +got):\n%s", diff)
		}
	})
}
