package crash

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// What an agent was told is in the log after the power is cut, on every server at the
// same moment.
func TestPowerCut(t *testing.T) {
	t.Parallel()
	needDisks(t)
	program := testkit.Program(t, "hook-router", testkit.RaceFlags...)
	t.Run("the NATS of the router", func(t *testing.T) {
		keeps(t, &plant{program: program, embedded: true, disks: 1})
	})
	t.Run("three servers", func(t *testing.T) {
		testkit.From(t, testkit.CI)
		keeps(t, &plant{program: program, disks: 3})
	})
	t.Run("control: one server that syncs every two minutes", func(t *testing.T) {
		testkit.From(t, testkit.CI)
		loses(t, &plant{program: program, disks: 1, lazy: true})
	})
	t.Run("control: three servers that sync every two minutes", func(t *testing.T) {
		testkit.From(t, testkit.CI)
		loses(t, &plant{program: program, disks: 3, lazy: true})
	})
}

// keeps cuts the power again and again, and each time the log goes on with what the
// disks then hold.
func keeps(t *testing.T, p *plant) {
	rng := random(t)
	p.prepare(t)
	var seen *audit.Pin
	told, recovery := 0, time.Duration(0)
	cuts := testkit.Volume(t, 1, 2, 20)
	for range cuts {
		at, took := p.round(t, rng)
		recovery = max(recovery, took)
		b := connect(t, p.url)
		ctx := testkit.Within(t, time.Minute)
		n, missing := p.look(t, ctx, b, at)
		if missing > 0 {
			p.sayHeld(t, ctx)
			t.Fatalf("%d of %d are missing after cut %d", missing, n, p.cuts)
		}
		told = n
		p.journal.forget(at) // what was told in the very moment of the cut may be there or not
		seen = verify(t, ctx, b, p.key, seen).Pin
		b.Close()
	}
	t.Logf("volume: %d power cuts, %d told before them and 0 missing: %s; up again after at most %d ms; verified over %d messages",
		cuts, told, p.journal.summary(), recovery.Milliseconds(), seen.Size)
}

// look looks for what was told before a time. A replica that has not caught up yet may
// answer first: what it does not have is looked for again.
func (p *plant) look(t *testing.T, ctx context.Context, b *natsx.Conn, at time.Time) (told, missing int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	began, tries := time.Now(), 0
	var log recorded
	var err error
	testkit.Soon(ctx, func() bool {
		tries++
		short, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		log, err = tryLog(t, short, b)
		told, missing = log.count(&p.journal, at)
		return err == nil && missing == 0
	})
	if err != nil {
		t.Errorf("cut %d: the log can't be read: %v", p.cuts, err)
	}
	if tries > 1 {
		t.Logf("cut %d: read %d times, for %v", p.cuts, tries, time.Since(began).Round(time.Millisecond))
	}
	return log.compare(t, &p.journal, at)
}

// sayHeld says what each server holds.
func (p *plant) sayHeld(t *testing.T, ctx context.Context) {
	t.Helper()
	if p.embedded {
		return
	}
	for i, w := range p.writers {
		signalTo(t, w, syscall.SIGUSR1)
		testkit.Soon(ctx, func() bool { return strings.Contains(w.Stderr(), "that is all") })
		t.Logf("server %d: %s", i, w.Stderr())
	}
}

// led waits until every stream of a cluster has a leader.
func (p *plant) led(t *testing.T, ctx context.Context) {
	t.Helper()
	nc := dial(t, p.url)
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	electing, cancel := context.WithTimeout(ctx, 25*time.Second)
	defer cancel()
	why := "JetStream does not answer"
	if !testkit.Soon(electing, func() bool {
		short, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		list := js.ListStreams(short)
		for info := range list.Info() {
			if info.Cluster == nil || info.Cluster.Leader == "" {
				why = info.Config.Name + " has no leader"
				return false
			}
		}
		return list.Err() == nil
	}) {
		p.sayHeld(t, ctx)
		t.Fatalf("after cut %d the cluster does not come back: %s", p.cuts, why)
	}
}

// loses shows that the cut is one: records that were acknowledged and not synced are
// gone.
func loses(t *testing.T, p *plant) {
	p.prepare(t)
	at, _ := p.round(t, random(t))
	told, missing := readLog(t, testkit.Within(t, time.Minute), connect(t, p.url)).compare(t, &p.journal, at)
	t.Logf("volume: one power cut, %d told before it and %d missing", told, missing)
	if missing == 0 {
		t.Error("nothing is missing: this proves nothing of the servers that sync")
	}
}

// plant is a router, and the NATS servers that keep its log on disks.
type plant struct {
	program  string
	embedded bool // the NATS is the router's own
	disks    int
	lazy     bool

	url, key string
	journal  journal
	number   atomic.Int64
	mounted  []*disk
	listens  []string
	routes   []string // of a cluster
	writers  []*testkit.Process
	router   *testkit.Process
	cuts     int
}

func (p *plant) prepare(t *testing.T) {
	t.Helper()
	p.listens = testkit.FreeAddrs(t, p.disks)
	if p.disks > 1 {
		p.routes = testkit.FreeAddrs(t, p.disks)
	}
	for i, listen := range p.listens {
		p.mounted = append(p.mounted, mount(t, newImage(t, "192M")))
		if i > 0 {
			p.url += ","
		}
		p.url += "nats://" + listen
	}
	p.key = filepath.Join(t.TempDir(), "audit.key")
}

// start starts everything on the disks as they are.
func (p *plant) start(t *testing.T) {
	t.Helper()
	ctx := testkit.Within(t, time.Minute)
	if p.embedded {
		p.key = filepath.Join(p.store(0), "audit.key")
		p.router = startRouter(t, ctx, p.program, "--nats-listen="+p.listens[0], "--store-dir="+p.store(0), "--auth=off")
		p.writers = []*testkit.Process{p.router}
		return
	}
	p.writers = nil
	for i, listen := range p.listens {
		s := natsServer{store: p.store(i), listen: listen, lazy: p.lazy}
		if p.routes != nil {
			s.route, s.routes = p.routes[i], p.routes
		}
		p.writers = append(p.writers, s.launch(t))
	}
	for _, w := range p.writers {
		if !w.Ready(ctx) {
			t.Fatalf("nats-server does not start: %s", w.Stderr())
		}
	}
	if p.disks > 1 {
		p.led(t, ctx)
	}
	flags := []string{"--nats-url=" + p.url, "--audit-key=" + p.key}
	if p.disks > 1 {
		flags = append(flags, "--jetstream-replicas=3")
	}
	p.router = startRouter(t, ctx, p.program, flags...)
}

func (p *plant) store(i int) string { return filepath.Join(p.mounted[i].dir, "store") }

// round runs the load, cuts the power at a random moment, and starts everything again
// on what is left. It returns when the power was cut, and how long the start took.
func (p *plant) round(t *testing.T, rng *rand.Rand) (at time.Time, recovery time.Duration) {
	t.Helper()
	if p.router == nil {
		p.start(t)
	}
	ctx := testkit.Within(t, time.Minute)
	loading, stop := context.WithCancel(ctx)
	defer stop()
	l := load{url: p.url, agents: 16, patience: 10 * time.Second, journal: &p.journal, number: &p.number}
	served := l.serve(t, ctx)
	before := p.journal.size()
	var wg sync.WaitGroup
	wg.Go(func() { l.run(t, loading) })
	testkit.Until(t, ctx, "agents are answered", func() bool { return p.journal.size() > before+100 })
	pass(time.Duration(rng.IntN(testkit.Volume(t, 300, 1500, 1500))) * time.Millisecond)
	at = p.cut(t, ctx)
	stop()
	wg.Wait()
	served()
	began := time.Now()
	p.start(t)
	return at, time.Since(began)
}

// cut cuts the power: what is on the disks at this moment is what the next start finds.
// A cluster, and every other time one server, stands still while its disks are copied,
// so that all copies are of one moment; else the server goes on, and is cut in the
// midst of its writes.
func (p *plant) cut(t *testing.T, ctx context.Context) (at time.Time) {
	t.Helper()
	at = time.Now()
	p.cuts++
	if p.disks > 1 || p.cuts%2 == 0 {
		for _, w := range p.writers {
			signalTo(t, w, syscall.SIGSTOP)
		}
		for _, w := range p.writers {
			stands(t, ctx, w)
		}
	}
	images, failed := make([]string, p.disks), make([]error, p.disks)
	var wg sync.WaitGroup
	for i, d := range p.mounted {
		wg.Go(func() { images[i], failed[i] = d.cut(t) })
	}
	wg.Wait()
	if err := errors.Join(failed...); err != nil {
		t.Fatal(err)
	}
	for _, w := range append(p.writers, p.router) {
		_ = w.End(t, os.Kill)
	}
	for i, d := range p.mounted {
		d.unmount(t)
		if err := os.Remove(d.image); err != nil {
			t.Error(err)
		}
		p.mounted[i] = mount(t, images[i])
	}
	return at
}
