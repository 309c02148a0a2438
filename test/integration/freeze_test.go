package integration

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/registry"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
)

// line is a replica's way to NATS, which can be cut.
type line struct {
	mu    sync.Mutex // guards what follows
	cut   bool
	conns []net.Conn
}

var errCut = errors.New("the line is cut")

// Dial connects, for [nats.SetCustomDialer].
func (w *line) Dial(network, address string) (net.Conn, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cut {
		return nil, errCut
	}
	conn, err := net.Dial(network, address) //nolint:noctx // the interface has no context
	if err == nil {
		w.conns = append(w.conns, conn)
	}
	return conn, err
}

// set cuts the line or mends it.
func (w *line) set(cut bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cut = cut
	for _, conn := range w.conns {
		_ = conn.Close()
	}
	w.conns = nil
}

// frozenFleet is three replicas, each with its faults.
type frozenFleet struct {
	nc     *nats.Conn
	faults []func(on bool)
}

// newFrozenFleet starts a replica whose line can be cut, one that can be held at the state
// of its hook table, and one that is well.
func newFrozenFleet(t *testing.T, ctx context.Context) *frozenFleet {
	t.Helper()
	s := natstest.Listening(t)
	cut, lag := &line{}, &natstest.Stall{Subject: "$KV.hooks_registry."}
	o := router.Options{Registry: registry.Options{Lease: 500 * time.Millisecond}}
	for _, option := range [][]nats.Option{
		{nats.SetCustomDialer(cut), nats.ReconnectWait(20 * time.Millisecond), nats.MaxReconnects(-1)}, {lag.Option()}, nil,
	} {
		routertest.Start(t, s, o, natsx.Options{URL: s.ClientURL(), Inbox: "_INBOX_router", NATS: option})
	}
	nc := natstest.Conn(t, s)
	hook(t, ctx, nc, "fine", `{"events":["tool:pre"]}`, says(`{}`))
	return &frozenFleet{nc, []func(bool){
		func(bool) {},
		cut.set,
		func(on bool) {
			if on {
				lag.Stop()
			} else {
				lag.Go()
			}
		},
	}}
}

// permitted executes an event and reports whether it is permitted. An error permits
// nothing.
func (f *frozenFleet) permitted(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	m, err := f.nc.RequestWithContext(ctx, "hooks.execute.tool.pre", []byte(`{"session_id":"s1"}`))
	if err != nil || code(m) != "" {
		return false
	}
	var v struct{ Action string }
	return json.Unmarshal(m.Data, &v) == nil && v.Action != "deny"
}

// order sends an order until it is carried out, as hookctl does.
func (f *frozenFleet) order(t *testing.T, ctx context.Context, verb, body string) time.Duration {
	t.Helper()
	began := time.Now()
	testkit.Until(t, ctx, verb+" is carried out", func() bool {
		short, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		m, err := f.nc.RequestWithContext(short, "hooks."+verb, []byte(body))
		return err == nil && code(m) == ""
	})
	return time.Since(began)
}

// newKilledFleet starts three replicas as processes, of which one is killed with SIGKILL,
// and started again, or stopped and continued.
func newKilledFleet(t *testing.T, ctx context.Context) *frozenFleet {
	t.Helper()
	program := testkit.Program(t, "hook-router", testkit.RaceFlags...)
	s := natstest.Listening(t)
	start := func() *routerProcess { return startRouter(t, program, "", "", s.ClientURL()) }
	start()
	killed, held := start(), start()
	nc := natstest.Conn(t, s)
	hook(t, ctx, nc, "fine", `{"events":["tool:pre"]}`, says(`{}`))
	return &frozenFleet{nc, []func(bool){
		func(on bool) {
			if on {
				_ = killed.End(t, syscall.SIGKILL)
			} else {
				killed = start()
			}
		},
		func(on bool) {
			signal := syscall.SIGCONT
			if on {
				signal = syscall.SIGSTOP
			}
			if err := held.Cmd.Process.Signal(signal); err != nil {
				t.Error(err)
			}
		},
	}}
}

// Once a freeze returned, nothing that is sent then is permitted, whatever became of the
// replicas meanwhile; and a thaw permits again.
func TestNothingIsPermittedOnceAFreezeReturned(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fleet        func(*testing.T, context.Context) *frozenFleet
		tier         testkit.Tier
		rounds, each int
	}{
		"lines are cut and stalled":        {newFrozenFleet, testkit.Smoke, testkit.Volume(t, 3, 12, 50), testkit.Volume(t, 30, 2_000, 2_000)},
		"processes are killed and stopped": {newKilledFleet, testkit.CI, testkit.Volume(t, 2, 2, 6), testkit.Volume(t, 200, 400, 2_000)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testkit.From(t, c.tier)
			ctx := testkit.Within(t, 30*time.Minute)
			c.fleet(t, ctx).freezeAndThaw(t, ctx, c.rounds, c.each)
		})
	}
}

// freezeAndThaw freezes everything so many times, with a fault each time, and sends so many
// events after each freeze returned.
func (f *frozenFleet) freezeAndThaw(t *testing.T, ctx context.Context, rounds, each int) {
	t.Helper()
	agents, pause := testkit.Volume(t, 4, 16, 16), time.Millisecond
	if testkit.CurrentTier(t) == testkit.Smoke {
		pause *= 5
	}
	sent, permits, before := atomic.Int64{}, atomic.Int64{}, atomic.Int64{}
	for n := range rounds {
		fault := f.faults[n%len(f.faults)]
		frozen, stop := atomic.Bool{}, make(chan struct{})
		left := atomic.Int64{}
		left.Store(int64(each))
		var load sync.WaitGroup
		for range agents {
			load.Go(func() {
				tick := time.NewTicker(pause)
				defer tick.Stop()
				for {
					select {
					case <-stop:
						return
					case <-tick.C:
					}
					after := frozen.Load()
					switch yes := f.permitted(ctx); {
					case !after && yes:
						before.Add(1)
					case after && yes:
						permits.Add(1)
					}
					if after {
						sent.Add(1)
						if left.Add(-1) <= 0 {
							return
						}
					}
				}
			})
		}
		testkit.Until(t, ctx, "events are permitted", func() bool { return before.Load() > int64(n*agents) })
		fault(true)
		f.order(t, ctx, "freeze", fmt.Sprintf(`{"all":true,"reason":"round %d"}`, n))
		frozen.Store(true)
		testkit.Until(t, ctx, "events are sent while it lasts", func() bool { return left.Load() < int64(max(each/2, each-500)) })
		fault(false) // what was held back arrives while everything is frozen
		load.Wait()
		close(stop)
		f.order(t, ctx, "thaw", `{"all":true}`)
		testkit.Until(t, ctx, "events are permitted again", func() bool { return f.permitted(ctx) })
		before.Store(int64((n + 1) * agents))
	}
	t.Logf("%d permits of %d events that were sent after a freeze returned", permits.Load(), sent.Load())
	if permits.Load() > 0 {
		t.Errorf("%d events of %d were permitted after a freeze returned", permits.Load(), sent.Load())
	}
}

// A freeze is quick where every replica is well.
func TestAFreezeIsQuick(t *testing.T) {
	t.Parallel()
	ctx := testkit.Within(t, 10*time.Minute)
	f := newFrozenFleet(t, ctx)
	var took []time.Duration
	for n := range testkit.Volume(t, 20, 200, 1_000) {
		took = append(took, f.order(t, ctx, "freeze", fmt.Sprintf(`{"session_id":"s%d","reason":"r"}`, n%50)))
		f.order(t, ctx, "thaw", fmt.Sprintf(`{"session_id":"s%d"}`, n%50))
	}
	slices.Sort(took)
	p99 := took[len(took)*99/100]
	t.Logf("freeze: median %v, p99 %v", took[len(took)/2], p99)
	if p99 > time.Second {
		t.Errorf("p99 of a freeze is %v; want at most 1 s", p99)
	}
}
