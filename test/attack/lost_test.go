package attack

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/pinned"
	"github.com/hookrouter/hookrouter/internal/registry"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// loadedBus is a bus whose guard denies everything, with two routers and 200 events a second.
type loadedBus struct {
	s       nats.InProcessConnProvider
	js      jetstream.JetStream
	options router.Options
	routers []*router.Router
	stops   []func()
	quiet   func() // ends the load
	sent    atomic.Int64
	permits atomic.Int64
}

func underLoad(t *testing.T, o router.Options) *loadedBus {
	t.Helper()
	b := &loadedBus{s: natstest.Server(t), options: o}
	b.start(t)
	guard(t, b.s, worker.Registration{ID: "guard"}, func(context.Context, worker.Event) (worker.Result, error) { return worker.Deny("no") })
	nc := natstest.Conn(t, b.s)
	var err error
	if b.js, err = jetstream.New(nc, jetstream.WithDefaultTimeout(testkit.Patience)); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	var load sync.WaitGroup
	b.quiet = func() { stop(); load.Wait() }
	t.Cleanup(b.quiet)
	load.Go(func() {
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for ctx.Err() == nil {
			<-tick.C
			load.Go(func() { b.send(ctx, nc) })
		}
	})
	return b
}

// send sends an event of the guard and counts what permits it.
func (b *loadedBus) send(ctx context.Context, nc *nats.Conn) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	m, err := nc.RequestWithContext(ctx, "hooks.execute.tool.pre", []byte(`{"command":"rm -rf /"}`))
	b.sent.Add(1)
	if err != nil || m.Header.Get("Nats-Service-Error-Code") != "" {
		return
	}
	var v struct{ Action string }
	if json.Unmarshal(m.Data, &v) != nil || v.Action != "deny" {
		b.permits.Add(1)
	}
}

func (b *loadedBus) start(t *testing.T) {
	t.Helper()
	b.routers, b.stops = nil, nil
	for range 2 {
		r, stop := routertest.Start(t, b.s, b.options, natsx.Options{Inbox: "_INBOX_router"})
		b.routers, b.stops = append(b.routers, r), append(b.stops, stop)
	}
}

func (b *loadedBus) stop() {
	for _, stop := range b.stops {
		stop()
	}
}

// notReady waits until every router says why it does not serve, and more events were sent.
func (b *loadedBus) notReady(t *testing.T, why string) {
	t.Helper()
	for _, r := range b.routers {
		testkit.Eventually(t, "the router says: "+why, func() bool {
			err := r.Ready()
			return err != nil && strings.Contains(err.Error(), why)
		})
	}
	b.survives(t)
}

// survives sends another 100 events, or 30 at smoke volume, of which and of all before none may be permitted.
func (b *loadedBus) survives(t *testing.T) {
	t.Helper()
	until := b.sent.Load() + int64(testkit.Volume(t, 30, 100, 100))
	testkit.Eventually(t, "events were sent", func() bool { return b.sent.Load() > until })
	if n := b.permits.Load(); n > 0 {
		t.Errorf("%d of %d events were permitted without their guard", n, b.sent.Load())
	}
}

// registry is the stream of the registry's bucket.
func (b *loadedBus) registry(t *testing.T) jetstream.Stream {
	t.Helper()
	stream, err := b.js.Stream(t.Context(), "KV_hooks_registry")
	if err != nil {
		t.Fatal(err)
	}
	return stream
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// accept has the routers serve with the registrations that are there.
func accept(t *testing.T, s nats.InProcessConnProvider) {
	t.Helper()
	operator := natstest.Conn(t, s)
	testkit.Eventually(t, "the loss is accepted", func() bool {
		m, err := operator.RequestWithContext(t.Context(), "hooks.registry.accept", nil)
		return err == nil && string(m.Data) == `{"accepted":true}`
	})
}

// TestLostRegistrationsPermitNothing: the registry loses a guard that nobody pinned, in
// each way that a server, a backup or a careless operator can bring about.
func TestLostRegistrationsPermitNothing(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(*testing.T, *loadedBus){
		"purged before a cold start": func(t *testing.T, b *loadedBus) {
			b.stop()
			ok(t, b.registry(t).Purge(t.Context()))
			b.start(t)
			b.notReady(t, "registrations are lost")
		},
		"deleted before a cold start": func(t *testing.T, b *loadedBus) {
			b.stop()
			ok(t, b.js.DeleteStream(t.Context(), "KV_hooks_registry"))
			b.start(t)
			b.notReady(t, "registrations are lost")
		},
		"its key deleted while routers run": func(t *testing.T, b *loadedBus) {
			kv, err := b.js.KeyValue(t.Context(), "hooks_registry")
			ok(t, err)
			ok(t, kv.Purge(t.Context(), "hook.guard"))
			b.notReady(t, "was deleted from the bucket")
		},
		"a bucket that forgets": func(t *testing.T, b *loadedBus) {
			config := b.registry(t).CachedInfo().Config
			config.MaxAge, config.Duplicates = time.Hour, time.Minute
			_, err := b.js.UpdateStream(t.Context(), config)
			ok(t, err)
			b.stop()
			b.start(t)
			b.notReady(t, "max_age is 1h0m0s")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := underLoad(t, router.Options{Registry: registry.Options{Lease: 500 * time.Millisecond}})
			b.survives(t)
			lose(t, b)
		})
	}
}

// TestAnOlderBackupPermitsNothing: the registry is brought back as it was before the guard
// was registered, and is not empty.
func TestAnOlderBackupPermitsNothing(t *testing.T) {
	t.Parallel()
	guards, err := pinned.New(pinned.Guard{ID: "guard", Events: []string{"tool:pre"}})
	ok(t, err)
	b := underLoad(t, router.Options{Guards: guards})
	hook(t, b.s, worker.Registration{ID: "other"}, func(context.Context, worker.Event) (worker.Result, error) { return worker.Continue() })
	b.stop()
	ok(t, b.registry(t).Purge(t.Context(), jetstream.WithPurgeSubject("$KV.hooks_registry.hook.guard")))
	b.start(t)
	b.survives(t)
}

// TestARegistryThatItsUsersEmptiedIsNotLost: the last hook was unregistered, and the loss
// of another is accepted: the routers serve, over restarts.
func TestARegistryThatItsUsersEmptiedIsNotLost(t *testing.T) {
	t.Parallel()
	b := &loadedBus{s: natstest.Server(t)}
	b.start(t)
	operate(t, b.s, "register.guard", `{"events":["tool:pre"],"on_failure":"deny"}`)
	operate(t, b.s, "unregister.guard", `{}`)
	serves := func(when string) {
		t.Helper()
		b.stop()
		b.start(t)
		for _, r := range b.routers {
			if err := r.Ready(); err != nil {
				t.Errorf("%s: %v", when, err)
			}
		}
	}
	serves("unregistered")
	operate(t, b.s, "register.guard", `{"events":["tool:pre"],"on_failure":"deny"}`)
	b.stop()
	var err error
	b.js, err = jetstream.New(natstest.Conn(t, b.s))
	ok(t, err)
	ok(t, b.registry(t).Purge(t.Context()))
	b.start(t)
	accept(t, b.s)
	serves("accepted")
}

// TestOneAcceptanceOpensNoPinnedGuard: neither of two routers serves after a guard was lost. One
// acceptance is recorded once, and both serve, except for the events of the guard that a file pins.
func TestOneAcceptanceOpensNoPinnedGuard(t *testing.T) {
	t.Parallel()
	guards, err := pinned.New(pinned.Guard{ID: "guard", Events: []string{"tool:pre"}})
	ok(t, err)
	b := underLoad(t, router.Options{Guards: guards, Registry: registry.Options{Lease: 500 * time.Millisecond}})
	kv, err := b.js.KeyValue(t.Context(), "hooks_registry")
	ok(t, err)
	ok(t, kv.Purge(t.Context(), "hook.guard"))
	b.notReady(t, "was deleted from the bucket")
	accept(t, b.s)
	for _, r := range b.routers {
		testkit.Eventually(t, "the router serves", func() bool { return r.Ready() == nil })
	}
	b.survives(t)
	b.quiet()
	log, err := b.js.Stream(t.Context(), "HOOKS_AUDIT")
	ok(t, err)
	records := 0
	for n := uint64(1); n <= log.CachedInfo().State.LastSeq; n++ {
		m, err := log.GetMsg(t.Context(), n)
		ok(t, err)
		records += strings.Count(string(m.Data), `"action":"accepted"`)
	}
	if records != 1 {
		t.Errorf("the acceptance is recorded %d times; want once", records)
	}
}
