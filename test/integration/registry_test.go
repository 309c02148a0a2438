package integration

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/registry"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// Replicas share a queue group, so a request reaches one of them at random: this
// many reach each.
const bothReplicas = 40

// A registration that was answered is seen by the next emit on any replica.
func TestARegisteredHookIsSeenByEveryReplicaAtOnce(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	for range 3 {
		routertest.Start(t, s, router.Options{})
	}
	nc := natstest.Conn(t, s)
	ctx := testkit.Within(t, 60*time.Second)
	for round := range testkit.Volume(t, 5, 30, 300) {
		id := fmt.Sprintf("h%d", round)
		sub, err := nc.QueueSubscribe("hooks.call."+id, id, func(m *nats.Msg) { _ = m.Respond([]byte(`{"action":"deny","reason":"seen"}`)) })
		if err != nil {
			t.Fatal(err)
		}
		if m := request(t, ctx, nc, "hooks.register."+id, nil, `{"events":["e"]}`); code(m) != "" {
			t.Fatal(m.Header)
		}
		for range 12 {
			if m := request(t, ctx, nc, "hooks.emit.e", nil, `{}`); m.Header.Get("Hook-Denied-By") != id {
				t.Fatalf("round %d: an emit after the registration missed the hook: %v %s", round, m.Header, m.Data)
			}
		}
		if m := request(t, ctx, nc, "hooks.unregister."+id, nil, `{}`); code(m) != "" {
			t.Fatal(m.Header)
		}
		for range 12 {
			if m := request(t, ctx, nc, "hooks.emit.e", nil, `{}`); m.Header.Get("Hook-Count") != "0" {
				t.Fatalf("round %d: an emit after the removal found the hook: %v", round, m.Header)
			}
		}
		_ = sub.Unsubscribe()
	}
}

// One replica's watch stands still, while events reach it as ever. The
// registration is answered only when that replica can't use its old table any
// more, and from then on no emit misses the hook: it refuses until it is current.
func TestAReplicaWhoseWatchIsStalledMissesNoHook(t *testing.T) {
	t.Parallel()
	s := natstest.Listening(t)
	lease := 800 * time.Millisecond
	routertest.Start(t, s, router.Options{Registry: registry.Options{Lease: lease}})
	stall := &natstest.Stall{Subject: "$KV."}
	slow, _ := routertest.Start(t, s, router.Options{Registry: registry.Options{Lease: lease}}, natsx.Options{URL: s.ClientURL(), NATS: []nats.Option{stall.Option()}})
	nc := natstest.Conn(t, s)
	ctx := testkit.Within(t, 60*time.Second)
	serve(t, nc, "guard", `{"action":"deny","reason":"seen"}`)
	emits := &emitter{nc: nc}

	stall.Stop()
	defer stall.Go()
	began := time.Now()
	for done := false; !done && ctx.Err() == nil; { // the stalled replica may be the one that is asked
		short, cancel := context.WithTimeout(ctx, 1500*time.Millisecond)
		m, err := nc.RequestMsgWithContext(short, &nats.Msg{Subject: "hooks.register.guard", Data: []byte(`{"events":["e"]}`)})
		cancel()
		done = err == nil && code(m) == ""
	}
	t.Logf("registered after %v", time.Since(began))
	emits.answered.Store(true)

	var wg sync.WaitGroup
	inTime := testkit.Within(t, 20*time.Second)
	for range 4 {
		wg.Go(func() {
			for range testkit.Volume(t, 20, 20, 200) {
				emits.one(inTime)
			}
		})
	}
	testkit.Until(t, ctx, "its lease ends by itself", func() bool { emits.one(inTime); return slow.Ready() != nil })
	wg.Wait()
	stall.Go()
	testkit.Until(t, ctx, "it is current again", func() bool { emits.one(inTime); return slow.Ready() == nil })
	for range bothReplicas {
		emits.one(inTime)
	}
	t.Logf("%d emits saw the hook, %d were refused or not answered in time", emits.seen.Load(), emits.refused.Load())
	if emits.missed.Load() > 0 || emits.seen.Load() < bothReplicas {
		t.Errorf("%d emits after the answered registration missed the hook, %d saw it", emits.missed.Load(), emits.seen.Load())
	}
}

// emitter emits and counts who saw the hook "guard".
type emitter struct {
	nc                    *nats.Conn
	answered              atomic.Bool // the registration was answered
	seen, missed, refused atomic.Int64
}

func (e *emitter) one(ctx context.Context) {
	after := e.answered.Load()
	ctx, cancel := context.WithTimeout(ctx, 4*time.Second)
	defer cancel()
	reply, err := e.nc.RequestMsgWithContext(ctx, &nats.Msg{Subject: "hooks.emit.e", Data: []byte(`{}`)})
	switch {
	case err != nil || code(reply) != "":
		e.refused.Add(1)
	case reply.Header.Get("Hook-Denied-By") == "guard":
		e.seen.Add(1)
	case after:
		e.missed.Add(1)
	}
}

// Many register the same hook at once with different contents: one of them wins,
// whole, and every replica has the same.
func TestConcurrentRegistrationsOfOneHookLeaveOneWhole(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	routertest.Start(t, s, router.Options{})
	routertest.Start(t, s, router.Options{})
	nc := natstest.Conn(t, s)
	ctx := testkit.Within(t, 60*time.Second)
	n := testkit.Volume(t, 20, 20, 200)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			body := fmt.Sprintf(`{"events":["e%d"],"name":"n%d","priority":%d,"instance":"i%d"}`, i, i, i, i)
			m, err := nc.RequestMsgWithContext(ctx, &nats.Msg{Subject: "hooks.register.one", Data: []byte(body)})
			if err != nil || code(m) != "" {
				t.Errorf("register: %v %v", err, m)
			}
		})
	}
	wg.Wait()
	var first string
	for range bothReplicas {
		var list []struct {
			ID, Name  string
			Events    []string
			Priority  int
			Instances []struct{ Instance string }
		}
		m := request(t, ctx, nc, "hooks.registry", nil, "")
		if err := json.Unmarshal(m.Data, &list); err != nil || len(list) != 1 {
			t.Fatalf("%s %v", m.Data, err)
		}
		h := list[0]
		if h.Name != fmt.Sprintf("n%d", h.Priority) || h.Events[0] != fmt.Sprintf("e%d", h.Priority) || len(h.Instances) != n {
			t.Fatalf("the registration is mixed: %s", m.Data)
		}
		if first == "" {
			first = string(m.Data)
		}
		if string(m.Data) != first {
			t.Fatalf("replicas differ:\n%s\n%s", first, m.Data)
		}
	}
}

func TestAnOlderVersionRenewsButDoesNotWriteBack(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	routertest.Start(t, s, router.Options{})
	nc := natstest.Conn(t, s)
	ctx := testkit.Within(t, 20*time.Second)
	v1 := `{"events":["e"],"priority":1,"version":"1.9.0","instance":"old"}`
	v2 := `{"events":["e"],"priority":2,"version":"1.10.0","instance":"new"}`
	for _, step := range []struct{ name, body, code, priority string }{
		{"the first version registers", v1, "", "1"},
		{"a newer one replaces it at once", v2, "", "2"},
		{"the old instance renews", v1, "", "2"},
		{"an unknown instance of the old version can't write it back", `{"events":["e"],"priority":1,"version":"1.9.0","instance":"late"}`, "409", "2"},
		{"the old instance can't write other content", `{"events":["e"],"priority":7,"version":"1.9.0","instance":"old"}`, "409", "2"},
	} {
		t.Run(step.name, func(t *testing.T) {
			if m := request(t, ctx, nc, "hooks.register.h", nil, step.body); code(m) != step.code {
				t.Errorf("code %q %s", code(m), m.Header.Get("Nats-Service-Error"))
			}
			var list []struct{ Priority json.Number }
			if err := json.Unmarshal(request(t, ctx, nc, "hooks.registry", nil, "").Data, &list); err != nil || list[0].Priority.String() != step.priority {
				t.Errorf("%v, %v", list, err)
			}
		})
	}
}

// A hook without renewals goes; a guard stays and denies, however long its
// workers and all routers are away.
func TestAGuardStaysWhenWorkersAndRoutersWereAwayLongerThanATTL(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	ttl := 400 * time.Millisecond
	r, stop := routertest.Start(t, s, router.Options{Registry: registry.Options{TTL: ttl}})
	nc := natstest.Conn(t, s)
	ctx := testkit.Within(t, 30*time.Second)
	for _, reg := range []string{`{"id":"guard","events":["e"],"on_failure":"deny"}`, `{"id":"note","events":["e"]}`} {
		var id struct{ ID string }
		if err := json.Unmarshal([]byte(reg), &id); err != nil {
			t.Fatal(err)
		}
		if m := request(t, ctx, nc, "hooks.register."+id.ID, nil, reg); code(m) != "" {
			t.Fatal(m.Header)
		}
	}
	denied := func(when string) {
		t.Helper()
		m := request(t, ctx, nc, "hooks.emit.e", nil, `{}`)
		if m.Header.Get("Hook-Denied-By") != "guard" {
			t.Fatalf("%s the gate is open: %v %s", when, m.Header, m.Data)
		}
	}
	count := func() int {
		var list []json.RawMessage
		if err := json.Unmarshal(request(t, ctx, nc, "hooks.registry", nil, "").Data, &list); err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	denied("at once")
	testkit.Until(t, ctx, "the hook that is no guard is gone", func() bool { return count() == 1 })
	denied("after the time-to-live")
	_ = r
	stop()
	<-time.After(2 * ttl)
	routertest.Start(t, s, router.Options{Registry: registry.Options{TTL: ttl}})
	denied("after all routers were away")
	if n := count(); n != 1 {
		t.Errorf("%d hooks are registered", n)
	}
}

func TestAWorkerThatVanishesIsKnownAtOnce(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	routertest.Start(t, s, router.Options{})
	nc, dead := natstest.Conn(t, s), natstest.Conn(t, s)
	ctx := testkit.Within(t, 30*time.Second)
	serve(t, dead, "h", `{}`)
	if m := request(t, ctx, nc, "hooks.register.h", nil, `{"events":["e"],"timeout_ms":30000,"on_failure":"deny"}`); code(m) != "" {
		t.Fatal(m.Header)
	}
	dead.Close()
	for ctx.Err() == nil { // until the server has noticed; a request may get lost with the connection
		if _, err := nc.Request("hooks.call.h", nil, 50*time.Millisecond); errors.Is(err, nats.ErrNoResponders) {
			break
		}
	}
	began := time.Now()
	m := request(t, ctx, nc, "hooks.emit.e", nil, `{}`)
	var r chain.Result
	if err := json.Unmarshal(m.Data, &r); err != nil || !r.Denied() {
		t.Fatalf("%s %v", m.Data, err)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %v to notice", took)
	}
}

// serve answers for a hook with the same reply always.
func serve(t *testing.T, nc *nats.Conn, id, reply string) {
	t.Helper()
	sub, err := nc.QueueSubscribe("hooks.call."+id, id, func(m *nats.Msg) { _ = m.Respond([]byte(reply)) })
	if err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sub.Unsubscribe() })
}
