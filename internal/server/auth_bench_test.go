//go:build unix

package server_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/auditlog"
	"github.com/hookrouter/hookrouter/internal/auditlog/recorder"
	"github.com/hookrouter/hookrouter/internal/natscontext"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/server"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// side is one of the two that are compared: a router, a hook, and an agent with 64
// requests under way.
type side struct {
	agent *nats.Conn
	rates []float64

	perCPU []float64 // chains for each second of processor time
}

// round measures chains a second.
func (s *side) round(b *testing.B, d time.Duration) {
	var chains atomic.Int64
	before := cpu()
	var all sync.WaitGroup
	began := time.Now()
	for i := range 64 {
		body := fmt.Appendf(nil, `{"session_id":"s%d","tool_name":"Bash","tool_input":{"command":"ls"}}`, i)
		all.Go(func() {
			for time.Since(began) < d {
				if _, err := s.agent.Request("hooks.execute.tool.pre", body, 10*time.Second); err != nil {
					b.Error(err)
					return
				}
				chains.Add(1)
			}
		})
	}
	all.Wait()
	s.rates = append(s.rates, float64(chains.Load())/time.Since(began).Seconds())
	s.perCPU = append(s.perCPU, float64(chains.Load())/(cpu()-before).Seconds())
}

// cpu is the processor time that this process has taken.
func cpu() time.Duration {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func median(list []float64) float64 {
	list = slices.Sorted(slices.Values(list))
	return list[len(list)/2]
}

// BenchmarkIdentities compares chains of three hooks a second, 64 in flight, with credentials (accounts,
// imports, permissions) and without, in turns of one run: as routers run by default, and
// without an audit log. It reports the median of the ratios as on/off. cpu-on/off is the same for
// each second of processor time: it varies less where other programs share the machine.
func BenchmarkIdentities(b *testing.B) {
	for _, audit := range []recorder.Mode{recorder.Strict, recorder.Off} {
		b.Run("audit="+string(audit), func(b *testing.B) { compareIdentities(b, audit) })
	}
}

func compareIdentities(b *testing.B, audit recorder.Mode) {
	b.Helper()
	sides := map[bool]*side{}
	for _, on := range []bool{true, false} {
		home := b.TempDir()
		o := server.Options{NATS: natsx.Options{Prefix: "hooks"}, Listen: "127.0.0.1:0", StoreDir: home, Router: router.Options{Audit: auditlog.Options{Recorder: recorder.Options{Mode: audit}}}}
		if on {
			o.AuthDir, o.ContextDir = home+"/auth", natscontext.Dir(in(home))
		}
		s, err := server.Start(b.Context(), o)
		if err != nil {
			b.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		up, done := make(chan struct{}), make(chan error, 1)
		go func() { done <- s.Run(ctx, func() { close(up) }) }()
		b.Cleanup(func() {
			cancel()
			if err := <-done; err != nil {
				b.Error(err)
			}
		})
		<-up
		connect := func(role string) *nats.Conn {
			c, err := natsx.Connect(natsx.Options{URL: s.ClientURL(), Role: role, Getenv: in(home)})
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(c.Close)
			return c.Conn()
		}
		client, err := hookrouter.Connect(ctx, hookrouter.Options{Conn: connect("worker")})
		if err != nil {
			b.Fatal(err)
		}
		w, err := worker.New(client, worker.Options{})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = w.Close(context.Background()) })
		hook := func(context.Context, worker.Event) (worker.Result, error) { return worker.Continue() }
		for i := range 3 {
			if _, err := w.Register(ctx, worker.Registration{ID: fmt.Sprintf("hook-%d", i), Events: []string{"tool:pre"}}, hook); err != nil {
				b.Fatal(err)
			}
		}
		sides[on] = &side{agent: connect("agent")}
	}
	var ratios []float64
	for b.Loop() {
		sides[false].round(b, 200*time.Millisecond)
		sides[true].round(b, 400*time.Millisecond)
		sides[false].round(b, 200*time.Millisecond)
		off := sides[false].rates[len(sides[false].rates)-2:]
		ratios = append(ratios, sides[true].rates[len(sides[true].rates)-1]/((off[0]+off[1])/2))
	}
	slices.Sort(ratios)
	b.ReportMetric(ratios[len(ratios)/2], "on/off")
	b.ReportMetric(median(sides[true].perCPU)/median(sides[false].perCPU), "cpu-on/off")
	b.ReportMetric(slices.Max(sides[true].rates), "chains/s")
}
