package integration

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/registry"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/server/embedded"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// After an outage longer than the time-to-live all workers renew while the router
// is removing what was silent: an answered renewal stands.
func TestAnAnsweredRenewalIsNotExpired(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	n, ttl := testkit.Volume(t, 50, 200, 2000), time.Second
	if n > 1000 {
		ttl *= 2 // that they all renew takes a while
	}
	routertest.Start(t, s, router.Options{Registry: registry.Options{TTL: ttl}})
	routertest.Start(t, s, router.Options{Registry: registry.Options{TTL: ttl}})
	nc := natstest.Conn(t, s)
	ctx := testkit.Within(t, 60*time.Second)
	renewed := make([]time.Time, n)
	renewAll := func() {
		var wg sync.WaitGroup
		for k := range 20 {
			wg.Go(func() {
				for i := k; i < n; i += 20 {
					renewed[i] = time.Now()
					body := fmt.Sprintf(`{"events":["e:x%d"],"instance":"a"}`, i)
					m, err := nc.RequestMsgWithContext(ctx, &nats.Msg{Subject: fmt.Sprintf("hooks.register.h%d", i), Data: []byte(body)})
					if err != nil || code(m) != "" {
						t.Errorf("renew h%d: %v %v", i, err, m)
					}
				}
			})
		}
		wg.Wait()
	}
	removed := make(chan struct{}, 1)
	sub, err := nc.Subscribe("$KV.hooks_registry.hook.>", func(m *nats.Msg) {
		if bytes.Contains(m.Data, []byte(`"removed"`)) {
			select {
			case removed <- struct{}{}:
			default:
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = sub.Unsubscribe() }()
	renewAll()
	select {
	case <-removed: // the first silent instance goes
	case <-ctx.Done():
		t.Fatal("nothing was removed")
	}
	renewAll()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(ttl / 2); time.Now().Before(end); <-tick.C {
		asked := time.Now()
		there := map[string]bool{}
		for _, h := range decode[[]struct{ ID string }](t, request(t, ctx, nc, "hooks.registry", nil, "").Data) {
			there[h.ID] = true
		}
		judged := 0
		for i, at := range renewed {
			if time.Since(at) > ttl {
				continue // it may be gone by right
			}
			judged++
			if id := fmt.Sprintf("h%d", i); !there[id] {
				t.Fatalf("hook %s is gone %v after a renewal that was answered", id, asked.Sub(at))
			}
		}
		if judged == 0 {
			break
		}
	}
}

func follow(t *testing.T, ctx context.Context, s *embedded.Server, id string, lease time.Duration, options ...nats.Option) *registry.Registry {
	t.Helper()
	b, err := natsx.Connect(natsx.Options{URL: s.ClientURL(), NATS: options})
	if err != nil {
		t.Fatal(err)
	}
	bucket, err := b.OpenBucket(ctx, natsx.BucketOptions{Name: "hooks_registry", Replicas: 1})
	if err != nil {
		t.Fatal(err)
	}
	r := registry.New(b, bucket, registry.Options{Replica: id, Lease: lease})
	running, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- r.Run(running) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		b.Close()
	})
	if err := r.WaitCurrent(ctx); err != nil {
		t.Fatal(err)
	}
	return r
}

// A replica stands still but goes on writing its renewals. One that starts now
// sees only the newest of them, and must not take it for proof that the other
// has seen what came before.
func TestANewReplicaWaitsForLeasesItCanNotSee(t *testing.T) {
	t.Parallel()
	s := natstest.Listening(t)
	ctx := testkit.Within(t, 60*time.Second)
	const lease = time.Second
	stall := &natstest.Stall{Subject: "$KV."}
	still := follow(t, ctx, s, "still", lease, stall.Option())
	first := follow(t, ctx, s, "first", lease)
	nc := natstest.Conn(t, s)
	renewals, err := nc.SubscribeSync("$KV.hooks_registry.replica.still")
	if err != nil {
		t.Fatal(err)
	}
	stall.Stop()
	defer stall.Go()
	reg := chain.Registration{ID: "h", Events: []string{"x"}, Instance: "i"}
	stored, err := nc.SubscribeSync("$KV.hooks_registry.hook.h")
	if err != nil {
		t.Fatal(err)
	}
	registered := make(chan error, 1)
	go func() {
		_, err := first.Register(ctx, "", reg)
		registered <- err
	}()
	if _, err := stored.NextMsgWithContext(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := renewals.NextMsgWithContext(ctx); err != nil { // one after the registration
		t.Fatal(err)
	}
	newcomer := follow(t, ctx, s, "newcomer", lease)
	if _, err := newcomer.Register(ctx, "", reg); err != nil {
		t.Fatal(err)
	}
	if table, err := still.Table(); err == nil && len(table.For("x", "")) == 0 {
		t.Error("the newcomer answered while a replica still serves without the hook")
	}
	if err := <-registered; err != nil {
		t.Error(err)
	}
}

// A hook that answers 504 of its own accord has failed: the chain has time left.
func TestAHooksOwn504IsItsFailure(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	routertest.Start(t, s, router.Options{})
	nc := natstest.Conn(t, s)
	ctx := testkit.Within(t, 20*time.Second)
	sub, err := nc.QueueSubscribe("hooks.call.h", "h", func(m *nats.Msg) {
		_ = m.RespondMsg(&nats.Msg{Header: nats.Header{"Nats-Service-Error-Code": {"504"}, "Nats-Service-Error": {"my backend is slow"}}})
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = sub.Unsubscribe() }()
	for policy, want := range map[string]string{"deny": `"action":"deny"`, "continue": `"action":"continue"`} {
		if m := request(t, ctx, nc, "hooks.register.h", nil, `{"events":["e"],"on_failure":"`+policy+`"}`); code(m) != "" {
			t.Fatal(m.Header)
		}
		m := request(t, ctx, nc, "hooks.emit.e", nats.Header{"Hook-Timeout-Ms": {"4000"}}, `{}`)
		if code(m) != "" || !strings.Contains(string(m.Data), want) {
			t.Errorf("on_failure %s: %v %s", policy, m.Header, m.Data)
		}
	}
}

// The code of a hook's error says what kind of failure it is.
func TestTheCodeOfAHooksErrorIsItsClass(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	routertest.Start(t, s, router.Options{})
	nc := natstest.Conn(t, s)
	ctx := testkit.Within(t, 20*time.Second)
	for code, class := range map[string]string{"500": "error", "502": "invalid_result", "504": "timeout", "418": "error"} {
		hook(t, ctx, nc, "h"+code, `{"events":["e:`+code+`"],"on_failure":"deny"}`, func(m *nats.Msg) []byte {
			_ = m.RespondMsg(&nats.Msg{Header: nats.Header{"Nats-Service-Error-Code": {code}, "Nats-Service-Error": {"no"}}})
			return nil
		})
		if m := request(t, ctx, nc, "hooks.emit.e."+code, nil, `{}`); !strings.Contains(string(m.Data), "failed ("+class+")") {
			t.Errorf("%s: %v %s; want the class %s", code, m.Header, m.Data, class)
		}
	}
}

func TestANewerProtocolMaySayMore(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	routertest.Start(t, s, router.Options{})
	nc := natstest.Conn(t, s)
	ctx := testkit.Within(t, 20*time.Second)
	newer := nats.Header{"Hook-Protocol": {"2"}}
	for _, tt := range []struct {
		name, subject string
		header        nats.Header
		body, code    string
		ignored       bool
	}{
		{"in the header of a registration", "hooks.register.h", newer, `{"events":["x"],"later":1}`, "", true},
		{"in its body", "hooks.register.h", nil, `{"events":["x"],"later":1,"protocol":2}`, "", true},
		{"an old sender may not", "hooks.register.h", nil, `{"events":["x"],"later":1}`, "400", false},
		{"in the header of an unregistration", "hooks.unregister.h", newer, `{"instance":"a","later":1}`, "", true},
		{"null removes nothing", "hooks.unregister.h", nil, `null`, "400", false},
		{"an empty instance removes nothing", "hooks.unregister.h", nil, `{"instance":""}`, "400", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := request(t, ctx, nc, tt.subject, tt.header, tt.body)
			if code(m) != tt.code || strings.Contains(string(m.Data), `"ignored":["later"]`) != tt.ignored {
				t.Errorf("%v %s", m.Header, m.Data)
			}
		})
	}
	if m := request(t, ctx, nc, "hooks.handlers", nil, ""); string(m.Data) != `{"x":["h"]}` {
		t.Errorf("handlers are %s", m.Data)
	}
}
