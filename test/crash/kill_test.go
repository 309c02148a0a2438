package crash

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/testkit"
)

// What an agent was told is in the log, with the same content, whichever processes were
// killed at whichever moments: two routers and the NATS server that they have joined.
func TestKill(t *testing.T) {
	t.Parallel()
	f := &fleet{program: testkit.Program(t, "hook-router", testkit.RaceFlags...), listen: testkit.FreeAddrs(t, 1)[0], store: t.TempDir(), key: filepath.Join(t.TempDir(), "audit.key")}
	kills, emits, rng := testkit.Volume(t, 2, 10, 100), testkit.Volume(t, 200, 5000, 50_000), random(t)
	ctx := testkit.Within(t, time.Duration(emits)*40*time.Millisecond+2*time.Minute)
	f.startNATS(t, ctx)
	for i := range f.routers {
		f.startRouter(t, ctx, i)
	}
	var j journal
	l := load{url: "nats://" + f.listen, agents: 16, patience: 4 * time.Second, journal: &j, number: &atomic.Int64{}}
	l.serve(t, ctx)
	loading, stop := context.WithCancel(ctx)
	defer stop()
	var wg sync.WaitGroup
	wg.Go(func() { l.run(t, loading) })
	began, next := time.Now(), 0
	stride := emits / kills
	for n := range kills {
		next = n*stride + rng.IntN(stride) // answers before this kill
		testkit.Until(t, ctx, "agents are answered", func() bool { return j.size() > next })
		f.kill(t, ctx, rng)
	}
	testkit.Until(t, ctx, "all agents are answered", func() bool { return j.size() >= emits })
	took := time.Since(began)
	stop()
	wg.Wait()

	b := connect(t, l.url)
	log := readLog(t, ctx, b)
	told, missing := log.compare(t, &j, time.Now())
	if missing > 0 {
		t.Errorf("%d of %d are missing in the log", missing, told)
	}
	for id, results := range log.results {
		if len(results) > 1 {
			t.Errorf("chain %s has %d results", id, len(results))
		}
	}
	report := verify(t, ctx, b, f.key, nil)
	for _, w := range report.Head.Writers {
		if strings.Contains(w.ID, ".") {
			t.Errorf("a router took its own records for those of somebody else: writer %s", w.ID)
		}
	}
	t.Logf("volume: %d kills (%d of routers, %d of NATS) over %v: %s; %d missing of %d; %d records, %d refused chains; %s: %d checkpoints, %d writers",
		kills, f.killed[0]+f.killed[1], f.killed[2], took.Round(time.Second), j.summary(), missing, told, log.records, len(log.refused),
		report.Verdict, report.Checkpoints, len(report.Head.Writers))
}

// fleet is two routers and the NATS server that they have joined, each a process.
type fleet struct {
	program, listen, store, key string
	nats                        *testkit.Process
	routers                     [2]*testkit.Process
	killed                      [3]int // how often: the routers, NATS
}

func (f *fleet) startNATS(t *testing.T, ctx context.Context) {
	t.Helper()
	f.nats = natsServer{store: f.store, listen: f.listen}.launch(t)
	if !f.nats.Ready(ctx) {
		t.Fatalf("nats-server does not start: %s", f.nats.Stderr())
	}
}

func (f *fleet) startRouter(t *testing.T, ctx context.Context, i int) {
	t.Helper()
	f.routers[i] = startRouter(t, ctx, f.program, "--nats-url=nats://"+f.listen, "--audit-key="+f.key)
}

// kill kills one of the processes and starts it again, or two of them at a time.
func (f *fleet) kill(t *testing.T, ctx context.Context, rng *rand.Rand) {
	t.Helper()
	i := rng.IntN(3)
	f.killed[i]++
	if i == 2 {
		_ = f.nats.End(t, os.Kill)
		if both := rng.IntN(4); both < 2 {
			_ = f.routers[both].End(t, os.Kill)
			defer f.startRouter(t, ctx, both)
		}
		f.startNATS(t, ctx)
		return
	}
	_ = f.routers[i].End(t, os.Kill)
	f.startRouter(t, ctx, i)
}
