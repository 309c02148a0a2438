package integration

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/registry"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/server/embedded"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
)

// Three servers, a router on each: what is registered through one is seen through the
// others at once. Then the server goes that leads the bucket of the registrations, while
// events and registrations come.
func TestACluster(t *testing.T) {
	t.Parallel()
	ctx := testkit.Within(t, 2*testkit.Patience)
	servers := natstest.Cluster(t)
	routers := make([]*router.Router, len(servers))
	unrenewed := registry.Options{TTL: time.Hour} // nobody renews the hooks of the load
	conns := make([]*nats.Conn, len(servers))
	for i, s := range servers {
		urls := []string{s.ClientURL()} // its own first, then the others
		for j := range servers {
			if j != i {
				urls = append(urls, servers[j].ClientURL())
			}
		}
		routers[i], _ = routertest.Start(t, s, router.Options{Registry: unrenewed}, natsx.Options{
			URL: strings.Join(urls, ","), NATS: []nats.Option{nats.DontRandomize()},
		})
		conns[i] = natstest.Conn(t, s)
	}
	t.Run("what is registered is seen through all at once", func(t *testing.T) { seenThroughTheOthersAtOnce(t, ctx, conns) })
	t.Run("it loses a server", func(t *testing.T) {
		testkit.From(t, testkit.CI) // the others take up to 9 s to elect another leader
		losesAServer(t, ctx, servers, routers, conns)
	})
}

// losesAServer stops the server that leads the bucket.
func losesAServer(t *testing.T, ctx context.Context, servers []*embedded.Server, routers []*router.Router, conns []*nats.Conn) {
	const guard = `{"events":["tool:pre"],"on_failure":"deny"}` // nobody answers for it
	if m := insist(t, ctx, conns[0], "hooks.register.guard", guard); code(m) != "" {
		t.Fatal(m.Header)
	}
	leader := bucketLeader(t, ctx, conns[0])
	var alive []*nats.Conn
	var victim *embedded.Server
	for i, s := range servers {
		if s.Name() == leader {
			victim = s
		} else {
			alive = append(alive, conns[i])
		}
	}

	l := &load{conns: alive}
	loading, stopLoad := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { l.register(t, loading) })
	for range testkit.Volume(t, 1, 4, 4) {
		wg.Go(func() { l.emit(t, loading) })
	}
	testkit.Until(t, ctx, "ten hooks are registered", func() bool { return l.answered.Load() >= 10 })
	began, before := time.Now(), l.answered.Load()
	victim.Stop()
	testkit.Until(t, ctx, "hooks are registered after the loss", func() bool { return l.answered.Load() >= before+10 })
	recovered := time.Since(began)
	for _, r := range routers {
		testkit.Until(t, ctx, "every router serves, on the servers that are left", func() bool { return r.Ready() == nil })
	}
	moved := time.Since(began)
	stopLoad()
	wg.Wait()

	for n := range l.answered.Load() { // each of the replicas that are left
		l.one(t, ctx, int(n))
	}
	for range bothReplicas {
		l.one(t, ctx, -1)
	}
	t.Logf("server %s lost: registrations again after %v, all routers serve after %v; %d hooks registered, %d registrations refused, "+
		"%d emits seen by their hook (%d of them failed open), %d refused",
		leader, recovered.Round(time.Millisecond), moved.Round(time.Millisecond), l.answered.Load(), l.unregistered.Load(),
		l.seen.Load(), l.open.Load(), l.refused.Load())
}

// seenThroughTheOthersAtOnce registers and removes through one server and emits
// through all.
func seenThroughTheOthersAtOnce(t *testing.T, ctx context.Context, conns []*nats.Conn) {
	t.Helper()
	for round := range testkit.Volume(t, 2, 15, 150) {
		id := fmt.Sprintf("x%d", round)
		serve(t, conns[round%3], id, `{"action":"deny","reason":"seen"}`)
		if m := insist(t, ctx, conns[round%3], "hooks.register."+id, `{"events":["x"],"on_failure":"deny"}`); code(m) != "" {
			t.Fatal(m.Header)
		}
		for i, nc := range conns {
			if m := insist(t, ctx, nc, "hooks.emit.x", `{}`); m.Header.Get("Hook-Denied-By") != id {
				t.Fatalf("round %d: an emit through server %d missed the hook: %v %s", round, i, m.Header, m.Data)
			}
		}
		if m := insist(t, ctx, conns[(round+1)%3], "hooks.unregister."+id, `{}`); code(m) != "" {
			t.Fatal(m.Header)
		}
		for i, nc := range conns {
			if m := insist(t, ctx, nc, "hooks.emit.x", `{}`); m.Header.Get("Hook-Count") != "0" || len(m.Header.Values("Hook-Denied-By")) > 0 {
				t.Fatalf("round %d: an emit through server %d found the hook that was removed: %v", round, i, m.Header)
			}
		}
	}
}

// bucketLeader is the server that leads the registry's bucket, of three copies.
func bucketLeader(t *testing.T, ctx context.Context, nc *nats.Conn) string {
	t.Helper()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := js.Stream(ctx, "KV_hooks_registry")
	if err != nil {
		t.Fatal(err)
	}
	info := stream.CachedInfo()
	if info.Config.Replicas != 3 || len(info.Cluster.Replicas) != 2 || info.Cluster.Leader == "" {
		t.Fatalf("the bucket has %d copies: %+v", info.Config.Replicas, info.Cluster)
	}
	return info.Cluster.Leader
}

// load registers hooks, each for an event of its own, and emits the events of
// hooks whose registration was answered.
type load struct {
	conns    []*nats.Conn
	answered atomic.Int64 // hooks 0 to answered-1

	unregistered, seen, open, refused atomic.Int64
}

func (l *load) ask(ctx context.Context, nc *nats.Conn, subject, body string) (*nats.Msg, bool) {
	ctx, cancel := context.WithTimeout(ctx, 4*time.Second)
	defer cancel()
	m, err := nc.RequestWithContext(ctx, subject, []byte(body))
	return m, err == nil && code(m) == ""
}

func (l *load) register(t *testing.T, ctx context.Context) {
	pause := time.NewTicker(10 * time.Millisecond)
	defer pause.Stop()
	for ctx.Err() == nil {
		n := l.answered.Load()
		nc := l.conns[rand.N(len(l.conns))]
		id := fmt.Sprintf("h%d", n)
		sub, err := nc.QueueSubscribe("hooks.call."+id, id, func(m *nats.Msg) { _ = m.Respond([]byte(`{"action":"deny"}`)) })
		if err != nil {
			t.Error(err)
			return
		}
		done := false
		for !done && ctx.Err() == nil {
			if _, done = l.ask(ctx, nc, "hooks.register."+id, fmt.Sprintf(`{"events":["reg:%d"],"instance":"i"}`, n)); !done {
				l.unregistered.Add(1)
			}
			<-pause.C
		}
		if !done {
			_ = sub.Unsubscribe()
			return
		}
		l.answered.Add(1)
	}
}

func (l *load) emit(t *testing.T, ctx context.Context) {
	pause := time.NewTicker(time.Millisecond)
	defer pause.Stop()
	for ctx.Err() == nil {
		l.one(t, ctx, rand.N(int(l.answered.Load())+1)-1)
		<-pause.C
	}
}

// one emits the event of one hook, or with -1 the guard's.
func (l *load) one(t *testing.T, ctx context.Context, n int) {
	subject, id := fmt.Sprintf("hooks.emit.reg.%d", n), fmt.Sprintf("h%d", n)
	if n < 0 {
		subject, id = "hooks.emit.tool.pre", "guard"
	}
	m, ok := l.ask(ctx, l.conns[rand.N(len(l.conns))], subject, `{}`)
	switch {
	case !ok:
		l.refused.Add(1)
	case m.Header.Get("Hook-Denied-By") == id:
		l.seen.Add(1)
	case n >= 0 && m.Header.Get("Hook-Failed-Open") == id: // called, and its worker's server was gone or not told yet
		l.seen.Add(1)
		l.open.Add(1)
	default:
		t.Errorf("an emit missed hook %s, which was registered: %v %s", id, m.Header, m.Data)
	}
}
