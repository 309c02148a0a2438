package integration

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/registry"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// The store keeps one record of a hook. A replica that lags is not given the one
// that was answered where the hook was written again meanwhile; between the two
// stands a renewal of its own. It must not take that for a right to a table that
// lacks the hook, while the newer record is still under way.
func TestALaggingReplicaDoesNotServeATableWithAHole(t *testing.T) {
	t.Parallel()
	s := natstest.Listening(t)
	ctx := testkit.Within(t, 60*time.Second)
	nc := natstest.Conn(t, s)
	const lease = 2 * time.Second
	hooks := &natstest.Stall{Subject: "$KV.hooks_registry.hook."}
	routertest.Start(t, s, router.Options{Registry: registry.Options{Lease: lease}}, natsx.Options{URL: s.ClientURL(), NATS: []nats.Option{hooks.Option()}})
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := js.Stream(ctx, "KV_hooks_registry")
	if err != nil {
		t.Fatal(err)
	}
	follows := take(t, ctx, stream.ConsumerNames(ctx).Name()) // the only one yet
	renewal := next(t, ctx, listen(t, nc, "$KV.hooks_registry.replica.*")).Subject
	first := follow(t, ctx, s, "first", lease)
	guard, err := nc.Subscribe("hooks.call.h", func(m *nats.Msg) { _ = m.Respond([]byte(`{"action":"deny"}`)) })
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = guard.Unsubscribe() }()

	if _, err := stream.PauseConsumer(ctx, follows, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	reg := chain.Registration{ID: "h", Events: []string{"x"}, Instance: "i"}
	if _, err := first.Register(ctx, "", reg); err != nil {
		t.Fatal(err)
	}
	next(t, ctx, listen(t, nc, renewal)) // it stands behind the record that was answered
	reg.Instance = "j"
	stored, again := listen(t, nc, "$KV.hooks_registry.hook.h"), make(chan error, 1)
	go func() {
		_, err := first.Register(ctx, "", reg)
		again <- err
	}()
	next(t, ctx, stored)
	hooks.Stop()
	if _, err := stream.ResumeConsumer(ctx, follows); err != nil {
		t.Fatal(err)
	}

	served := 0
	emit := func() {
		m, err := nc.RequestWithContext(ctx, "hooks.emit.x", []byte(`{}`))
		if errors.Is(err, nats.ErrNoResponders) {
			return // it has left the queue group: as good as a refusal
		}
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case strings.Contains(string(m.Data), `"action":"deny"`):
			served++
		case code(m) != "503":
			t.Fatalf("the registration was answered, and an emit misses the hook: %v %s", m.Header, m.Data)
		}
	}
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for range 40 { // the renewal's lease would last much longer, and the next comes later
		<-tick.C
		emit()
	}
	hooks.Go()
	testkit.Until(t, ctx, "the replica has caught up", func() bool { emit(); return served > 0 })
	if err := take(t, ctx, again); err != nil {
		t.Error(err)
	}
}
