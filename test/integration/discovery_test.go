package integration

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// micros reads an answer of the discovery as strictly as can be.
func micros[T any](t *testing.T, m *nats.Msg) T {
	t.Helper()
	var v T
	dec := json.NewDecoder(bytes.NewReader(m.Data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("%s: %v", m.Data, err)
	}
	return v
}

func routerStats(t *testing.T, ctx context.Context, nc *nats.Conn) map[string]*micro.EndpointStats {
	t.Helper()
	stats := micros[micro.Stats](t, request(t, ctx, nc, "$SRV.STATS.hook-router", nil, ""))
	of := map[string]*micro.EndpointStats{}
	for _, e := range stats.Endpoints {
		of[e.Name] = e
	}
	return of
}

// emits is how many emits a router has answered.
func emits(t *testing.T, ctx context.Context, nc *nats.Conn) int {
	t.Helper()
	emit := routerStats(t, ctx, nc)["emit"]
	if emit == nil {
		return -1 // while its table is stale it takes none
	}
	return emit.NumRequests
}

// Routers and workers show themselves as NATS micro services, with true counts.
func TestDiscovery(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	routertest.Start(t, s, router.Options{Version: "1.2.3"})
	nc := natstest.Conn(t, s)
	ctx := testkit.Within(t, 30*time.Second)
	w := newWorker(t, natstest.Conn(t, s), worker.Options{Name: "my-worker", Version: "4.5.6"})
	register(t, ctx, w, worker.Registration{ID: "slow", Events: []string{"e"}}, func(context.Context, worker.Event) (worker.Result, error) {
		<-time.After(20 * time.Millisecond)
		return worker.Result{}, nil
	})
	register(t, ctx, w, worker.Registration{ID: "broken", Events: []string{"broken"}}, func(context.Context, worker.Event) (worker.Result, error) {
		return worker.Result{}, context.Canceled
	})
	const slow, broken, bad = 10, 3, 2
	for range slow {
		request(t, ctx, nc, "hooks.emit.e", nil, `{}`)
	}
	for range broken {
		request(t, ctx, nc, "hooks.emit.broken", nil, `{}`)
	}
	for range bad {
		request(t, ctx, nc, "hooks.emit.e", nil, `[`)
	}
	testkit.Until(t, ctx, "everything is counted", func() bool { return emits(t, ctx, nc) == slow+broken+bad })

	for _, tt := range []struct {
		service, version string
		endpoints        map[string][2]string // subject and queue group
	}{
		{"hook-router", "1.2.3", map[string][2]string{"emit": {"hooks.emit.>", "hooks-router"}, "register": {"hooks.register.*", "hooks-router"}, "registry": {"hooks.registry", "hooks-router"}}},
		{"my-worker", "4.5.6", map[string][2]string{"slow": {"hooks.call.slow", "slow"}, "broken": {"hooks.call.broken", "broken"}}},
	} {
		t.Run(tt.service, func(t *testing.T) {
			ping := micros[micro.Ping](t, request(t, ctx, nc, "$SRV.PING."+tt.service, nil, ""))
			if ping.Type != micro.PingResponseType || ping.Name != tt.service || ping.Version != tt.version || ping.ID == "" || ping.Metadata["prefix"] != "hooks" {
				t.Errorf("ping %+v", ping)
			}
			info := micros[micro.Info](t, request(t, ctx, nc, "$SRV.INFO."+tt.service+"."+ping.ID, nil, ""))
			if info.Type != micro.InfoResponseType || info.ID != ping.ID {
				t.Errorf("info %+v", info)
			}
			found := 0
			for _, e := range info.Endpoints {
				if want, ok := tt.endpoints[e.Name]; ok {
					found++
					if e.Subject != want[0] || e.QueueGroup != want[1] {
						t.Errorf("endpoint %+v, want %v", e, want)
					}
				}
			}
			if found != len(tt.endpoints) {
				t.Errorf("endpoints %+v", info.Endpoints)
			}
			stats := micros[micro.Stats](t, request(t, ctx, nc, "$SRV.STATS."+tt.service+"."+ping.ID, nil, ""))
			if stats.Type != micro.StatsResponseType || stats.ID != ping.ID || time.Since(stats.Started) > time.Minute || len(stats.Endpoints) != len(info.Endpoints) {
				t.Errorf("stats %+v", stats)
			}
		})
	}

	emit := routerStats(t, ctx, nc)["emit"]
	if emit.NumErrors != bad || emit.LastError == "" || emit.AverageProcessingTime != emit.ProcessingTime/(slow+broken+bad) || emit.ProcessingTime < slow*20*time.Millisecond {
		t.Errorf("emit %+v", emit)
	}
	data := decode[struct {
		Refused map[string]int
		Counts  map[string]int64
	}](t, emit.Data)
	if data.Refused["400"] != bad || data.Counts["failed_open"] != broken || data.Counts["failed_error"] != broken {
		t.Errorf("emit's data is %s", emit.Data)
	}
	for _, e := range micros[micro.Stats](t, request(t, ctx, nc, "$SRV.STATS.my-worker", nil, "")).Endpoints {
		switch {
		case e.Name == "slow" && (e.NumRequests != slow || e.NumErrors != 0 || e.AverageProcessingTime < 20*time.Millisecond || e.AverageProcessingTime > 2*time.Second):
			t.Errorf("slow %+v", e)
		case e.Name == "broken" && (e.NumRequests != broken || e.NumErrors != broken || e.LastError == ""):
			t.Errorf("broken %+v", e)
		}
	}

	// Everybody answers to an approval request for all.
	all := listen(t, nc, nats.NewInbox())
	if err := nc.PublishRequest("$SRV.PING", all.Subject, nil); err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for range 2 {
		names[micros[micro.Ping](t, next(t, ctx, all)).Name] = true
	}
	if !names["hook-router"] || !names["my-worker"] {
		t.Errorf("answers from %v", names)
	}
}
