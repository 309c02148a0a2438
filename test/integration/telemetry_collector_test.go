package integration

import (
	"context"
	"log/slog"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/telemetry"
	"github.com/hookrouter/hookrouter/internal/telemetry/otlp"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// A collector that is not there, or takes connections and never answers, is nobody's
// business but the log's: one line a minute.
func TestACollectorThatIsGoneIsNotNoticedByAgents(t *testing.T) {
	for name, hangs := range map[string]bool{"nobody listens": false, "it hangs": true} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://"+collector(t, hangs))
			t.Setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "20") // ms
			t.Setenv("OTEL_BSP_MAX_QUEUE_SIZE", "500")
			t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "10")
			t.Setenv("OTEL_BSP_EXPORT_TIMEOUT", "30")
			log := &lockedBuffer{}
			shown, err := telemetry.Start(t.Context(), telemetry.Options{Exporters: otlp.Exporters(), Log: slog.New(slog.NewTextHandler(log, nil))})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				late, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
				defer cancel()
				_ = shown.Stop(late) // what waits can't be sent
			})
			s := natstest.Server(t)
			ctx := testkit.Within(t, 3*time.Minute)
			routertest.Start(t, s, router.Options{Telemetry: shown})
			nc := natstest.Conn(t, s)
			w := newWorker(t, natstest.Conn(t, s), worker.Options{})
			register(t, ctx, w, worker.Registration{ID: "h1", Events: []string{"*"}}, nothing)
			n, slowest, before := testkit.Volume(t, 200, 1000, 10_000), time.Duration(0), heap()
			for range n {
				began := time.Now()
				if m := request(t, ctx, nc, "hooks.emit.tool.pre", nil, `{"session_id":"s1"}`); m.Header.Get("Hook-Count") != "1" {
					t.Fatal(m.Header)
				}
				slowest = max(slowest, time.Since(began))
			}
			grown := int64(heap()) - int64(before)
			t.Logf("%d events answered, the slowest after %v; the heap grew by %d KB", n, slowest, grown>>10)
			if slowest > 3*time.Second || grown > 32<<20 {
				t.Error("that is too slow, or too much")
			}
			testkit.Until(t, ctx, "it is logged", func() bool { return strings.Contains(log.String(), "telemetry failed") })
			failed := map[string]bool{}
			testkit.Until(t, ctx, "spans that could not be sent are counted, more and more", func() bool {
				request(t, ctx, nc, "hooks.emit.tool.pre", nil, `{"session_id":"s1"}`)
				failed[find(t, `hookrouter_spans_total\{outcome="failed"\} (\d+)`, metrics(t, shown))] = true
				return len(failed) > 4
			})
			if lines := strings.Count(log.String(), "\n"); lines != 1 {
				t.Errorf("%d lines:\n%s", lines, log)
			}
		})
	}
}

// collector is the address of a collector that hangs, or of none.
func collector(t *testing.T, hangs bool) string {
	t.Helper()
	if !hangs {
		return testkit.FreeAddrs(t, 1)[0]
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var taking sync.WaitGroup
	var held []net.Conn
	taking.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			held = append(held, c)
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		taking.Wait()
		for _, c := range held {
			_ = c.Close()
		}
	})
	return l.Addr().String()
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// What a hop costs does not grow by telemetry that traces nothing: a chain of many
// hooks allocates as much with metrics alone as without any telemetry.
func TestTelemetryThatIsOffAllocatesNothingForAHop(t *testing.T) {
	if testkit.RaceFlags != nil {
		t.Skip("the race detector drops what pools keep")
	}
	rounds := testkit.Volume(t, 10, 200, 200)
	perHop := func(o router.Options) float64 {
		s := natstest.Server(t)
		ctx := testkit.Within(t, 2*time.Minute)
		routertest.Start(t, s, o)
		nc := natstest.Conn(t, s)
		w := newWorker(t, natstest.Conn(t, s), worker.Options{})
		register(t, ctx, w, worker.Registration{ID: "h0", Events: []string{"one", "many"}}, nothing)
		const more = 8
		for i := range more {
			register(t, ctx, w, worker.Registration{ID: "more" + string(rune('0'+i)), Events: []string{"many"}}, nothing)
		}
		cost := func(subject string) float64 {
			best := 0.0
			for range 5 { // the quietest round
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				for range rounds {
					request(t, ctx, nc, subject, nil, `{}`)
				}
				runtime.ReadMemStats(&after)
				if n := float64(after.Mallocs-before.Mallocs) / float64(rounds); best == 0 || n < best {
					best = n
				}
			}
			return best
		}
		cost("hooks.emit.many") // labels are made once
		return (cost("hooks.emit.many") - cost("hooks.emit.one")) / more
	}
	shown, err := telemetry.Start(t.Context(), telemetry.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = shown.Stop(context.Background()) }()
	without, with := perHop(router.Options{}), perHop(router.Options{Telemetry: shown})
	t.Logf("%.2f allocations for a hop without telemetry, %.2f with metrics and no tracing", without, with)
	if with-without > 0.5 {
		t.Errorf("telemetry adds %.2f allocations to each hop", with-without)
	}
}
