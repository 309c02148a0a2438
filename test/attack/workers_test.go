package attack

import (
	"context"
	"fmt"
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
