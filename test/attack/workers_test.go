package attack

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/identity"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// A worker emits events that its own hook never answers: agents are served nevertheless.
func TestAWorkerTakesNoPlacesOfAgents(t *testing.T) {
	t.Parallel()
	const places = 64
	b := newAuthBus(t, router.Options{MaxInFlight: places}, identity.Identity{Name: "slow", Role: identity.Worker, Hooks: []string{"slow"}})
	b.guard()
	ctx := testkit.Within(t, testkit.Patience)
	workers, err := worker.New(b.client("slow"), worker.Options{})
	if err != nil {
		t.Fatal(err)
	}
	called := make(chan struct{}, places)
	hang := func(ctx context.Context, _ events.Event) (worker.Result, error) {
		called <- struct{}{}
		<-ctx.Done()
		return worker.Continue()
	}
	if _, err := workers.Register(ctx, worker.Registration{ID: "slow", Events: []string{"module:load_failed"}, TimeoutMS: 2_000}, hang); err != nil {
		t.Fatal(err)
	}
	nc := b.conn("slow").Conn()
	for i := range 2 * places {
		inbox := nc.NewInbox()
		ok(t, nc.PublishMsg(&nats.Msg{Subject: "hooks.emit.module.load_failed", Reply: inbox, Data: fmt.Appendf(nil, `{"session_id":"w%d"}`, i)}))
	}
	ok(t, nc.Flush())
	<-called
	for range 20 {
		if x, err := b.agent("coder").Execute(ctx, events.ToolPre, command("ls")); err != nil || !x.Permitted() {
			t.Fatalf("%+v, %v; want that the agent is served", x, err)
		}
	}
}

// A worker registers its hook over and over: an operator's order to freeze waits behind none of it.
func TestAWorkerThatRegistersDelaysNoOrder(t *testing.T) {
	t.Parallel()
	const sent = 800
	b := newAuthBus(t, router.Options{}, identity.Identity{Name: "eager", Role: identity.Worker, Hooks: []string{"eager"}})
	oscar, nc, ctx := b.conn("oscar").Conn(), b.conn("eager").Conn(), testkit.Within(t, testkit.Patience)
	var answered atomic.Int64
	inbox := nc.NewInbox()
	_, err := nc.Subscribe(inbox, func(*nats.Msg) { answered.Add(1) })
	ok(t, err)
	for i := range sent {
		body := fmt.Appendf(nil, `{"events":["x:%d"],"instance":"i%d"}`, i, i%500)
		ok(t, nc.PublishMsg(&nats.Msg{Subject: "hooks.register.eager", Reply: inbox, Data: body}))
	}
	ok(t, nc.Flush())
	m, err := oscar.RequestWithContext(ctx, "hooks.freeze", []byte(`{"agent":"rival","reason":"now"}`))
	if err != nil || m.Header.Get("Nats-Service-Error-Code") != "" {
		t.Fatalf("%+v, %v", m, err)
	}
	if n := answered.Load(); n > sent/2 {
		t.Errorf("%d of %d registrations were answered before the order", n, sent)
	}
	testkit.Eventually(t, "the registrations to be answered", func() bool { return answered.Load() == sent })
}

// A worker sends as fast as its connections take it: it is disconnected, and agents are served.
func TestAFloodOfAWorkerEnds(t *testing.T) {
	testkit.From(t, testkit.CI) // the flood takes the machine from the other tests
	b := newAuthBus(t, router.Options{}, identity.Identity{Name: "flooder", Role: identity.Worker, Hooks: []string{"flood"}})
	b.guard()
	requests := []byte(strings.Repeat("PUB hooks.registry _INBOX_x.y 0\r\n\r\n", 1_000))
	ended := make(chan struct{}, 2)
	for range cap(ended) {
		flooder := b.byHand("flooder")
		go func() {
			for {
				if _, err := flooder.nc.Write(requests); err != nil {
					ended <- struct{}{}
					return
				}
			}
		}()
	}
	for range cap(ended) {
		testkit.Receive(t, "the flood to end", ended)
	}
	testkit.Eventually(t, "an agent to be served", func() bool {
		x, err := b.agent("coder").Execute(testkit.Within(t, testkit.Patience), events.ToolPre, command("ls"))
		return err == nil && x.Permitted()
	})
}
