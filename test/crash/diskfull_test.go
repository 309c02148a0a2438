package crash

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
)

// How soon an agent is refused, and the router not ready, while the disk is full. slack
// is for a machine on which other programs run too.
const (
	refusedWithin  = 600 * time.Millisecond
	unreadyWithin  = 5 * time.Second
	recoversWithin = 5 * time.Second // by itself, when there is room again; else it is restarted
	refusedSlack   = 2
	refusedAtLeast = 50
)

// A full disk refuses, and takes nothing back: what was told stays in the log.
func TestDiskFull(t *testing.T) {
	needDisks(t)
	testkit.From(t, testkit.CI)
	f := &full{disk: mount(t, newImage(t, "48M")), listen: testkit.FreeAddrs(t, 1)[0], program: testkit.Program(t, "hook-router", testkit.RaceFlags...)}
	f.start(t)
	ctx := testkit.Within(t, time.Minute)
	loading, stop := context.WithCancel(ctx)
	defer stop()
	load{url: f.url(), journal: &f.journal, patience: 10 * time.Second}.serve(t, ctx)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() { f.emit(t, loading) })
	}
	testkit.Until(t, ctx, "agents are answered", func() bool { return f.journal.size() > 200 })

	free := f.fill(t, loading)
	testkit.Until(t, ctx, "the log takes nothing any more", func() bool { return f.refused.Load() > 0 })
	began := time.Now()
	testkit.Until(t, ctx, "the health page says that it is not ready", func() bool { status, _ := f.health(t); return status == http.StatusServiceUnavailable })
	unready := time.Since(began)
	_, why := f.health(t)
	if unready > unreadyWithin {
		t.Errorf("it says so %v after the first refusal", unready)
	}
	testkit.Until(t, ctx, "agents are told that there is nobody, or refused", func() bool {
		return f.refused.Load()+f.nobody.Load() > refusedAtLeast && f.nobody.Load() > 0
	})
	told := f.journal.size()
	free()

	how := "by itself"
	recovering, cancel := context.WithTimeout(ctx, recoversWithin)
	defer cancel()
	began = time.Now()
	var ending time.Duration
	if !testkit.Soon(recovering, func() bool { return f.journal.size() > told+50 }) {
		how = "after a restart"
		began = time.Now()
		_ = f.router.End(t, syscall.SIGTERM)
		ending = time.Since(began)
		f.start(t)
		if !testkit.Soon(ctx, func() bool { return f.journal.size() > told+50 }) {
			status, why := f.health(t)
			t.Fatalf("agents are not answered again: %s; /readyz says %d %s; the router logs\n%s", f.journal.summary(), status, why, f.router.Stderr())
		}
	}
	took := time.Since(began)
	stop()
	wg.Wait()
	if worst := time.Duration(f.worst.Load()); worst > refusedWithin*refusedSlack {
		t.Errorf("an agent was refused only after %v", worst)
	}
	b := connect(t, f.url())
	n, missing := readLog(t, ctx, b).compare(t, &f.journal, time.Now())
	if missing > 0 {
		t.Errorf("%d of %d are missing in the log", missing, n)
	}
	report := verify(t, ctx, b, filepath.Join(f.store(), "audit.key"), nil)
	t.Logf("volume: one full disk: %d refused with 503, at most after %v; %d told that there is no router; not ready after %v (%s); "+
		"answers again %s, within %v (%v of them for the router to end); %d told, %d missing; %s",
		f.refused.Load(), time.Duration(f.worst.Load()).Round(time.Millisecond), f.nobody.Load(), unready.Round(time.Millisecond), why,
		how, took.Round(time.Millisecond), ending.Round(time.Millisecond), n, missing, report.Verdict)
}

// full is a router whose own NATS is on a disk that becomes full.
type full struct {
	disk            *disk
	program, listen string
	router          *testkit.Process
	journal         journal
	number          atomic.Int64
	refused, nobody atomic.Int64 // requests that were answered so
	worst           atomic.Int64 // how long a refusal took, in nanoseconds
}

func (f *full) url() string   { return "nats://" + f.listen }
func (f *full) store() string { return filepath.Join(f.disk.dir, "store") }

func (f *full) start(t *testing.T) {
	t.Helper()
	f.router = startRouter(t, testkit.Within(t, time.Minute), f.program, "--nats-listen="+f.listen, "--store-dir="+f.store(), "--auth=off")
}

// health is what /readyz says.
func (f *full) health(t *testing.T) (status int, text string) {
	t.Helper()
	defer http.DefaultClient.CloseIdleConnections()
	resp, err := http.Get(f.router.Find(t, `health\s+(\S+)`)) //nolint:noctx // it answers or the test fails
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, strings.TrimSpace(string(body))
}

// emit emits without patience until ctx ends.
func (f *full) emit(t *testing.T, ctx context.Context) {
	a, err := agent.New(natstest.Client(t, hookrouter.Options{Conn: dial(t, f.url()), Patience: -1}), agent.Options{Session: "s"})
	if err != nil {
		t.Error(err)
		return
	}
	for ctx.Err() == nil {
		n := f.number.Add(1)
		sent := json.RawMessage(fmt.Sprintf(`{"n":%d,"text":%q}`, n, strings.Repeat("x", 500)))
		began := time.Now()
		got, err := a.Emit(ctx, "tool:pre", sent)
		took := time.Since(began)
		refusal, refused := errors.AsType[*hookrouter.Error](err)
		switch {
		case err == nil:
			action := got.Action
			if action == "" {
				action = chain.Continue
			}
			f.journal.answered(answer{Run: got.Run, sent: sent, action: string(action), reason: got.Reason, data: got.Data})
		case refused && refusal.Code == 503:
			f.refused.Add(1)
			for worst := f.worst.Load(); int64(took) > worst && !f.worst.CompareAndSwap(worst, int64(took)); {
				worst = f.worst.Load()
			}
		case errors.Is(err, hookrouter.ErrNoRouter), errors.Is(err, nats.ErrNoResponders):
			f.nobody.Add(1)
			pass(5 * time.Millisecond)
		case ctx.Err() == nil:
			f.journal.failed(err)
			pass(5 * time.Millisecond)
		}
	}
}

// fill fills the disk, and keeps it full until free is called.
func (f *full) fill(t *testing.T, ctx context.Context) (free func()) {
	t.Helper()
	filler, err := os.Create(filepath.Join(f.disk.dir, "filler"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(ctx)
	chunk := make([]byte, 1<<20)
	topUp := func() bool { // never done: what the server lets go of is taken too
		for size := len(chunk); size >= 512; {
			if _, err := filler.Write(chunk[:size]); err != nil {
				size /= 2
			}
		}
		return false
	}
	topUp()
	var wg sync.WaitGroup
	wg.Go(func() { testkit.Soon(ctx, topUp) })
	free = sync.OnceFunc(func() {
		stop()
		wg.Wait()
		_ = filler.Close()
		if err := os.Remove(filler.Name()); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(free)
	return free
}
