package registry_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hookrouter/hookrouter/internal/labels"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/registry"
	"github.com/hookrouter/hookrouter/internal/server/embedded"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

func TestMain(m *testing.M) {
	testkit.Parallel(8) // they wait for leases
	goleak.VerifyTestMain(m)
}

// replica starts a replica's registry on a server, and waits until it holds a lease, of 30 s unless
// the options say otherwise: none lapses because the machine is busy.
func replica(t *testing.T, s natsx.InProcess, o registry.Options) *registry.Registry {
	t.Helper()
	return replicaOn(t, natstest.Connect(t, natsx.Options{InProcess: s}), o)
}

// replicaOn is replica on a connection of the test's.
func replicaOn(t *testing.T, conn *natsx.Conn, o registry.Options) *registry.Registry {
	t.Helper()
	r, stop := started(t, conn, o)
	t.Cleanup(stop)
	return r
}

// during is replica until do returns.
func during(t *testing.T, s natsx.InProcess, o registry.Options, do func(*registry.Registry)) {
	t.Helper()
	conn, err := natsx.Connect(natsx.Options{InProcess: s})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	r, stop := started(t, conn, o)
	defer stop()
	do(r)
}

func started(t *testing.T, conn *natsx.Conn, o registry.Options) (r *registry.Registry, stop func()) {
	t.Helper()
	bucket, err := conn.OpenBucket(t.Context(), registry.Bucket(conn.Bucket(), 1))
	if err != nil {
		t.Fatal(err)
	}
	o.Lease = cmp.Or(o.Lease, 30*time.Second)
	r = registry.New(conn, bucket, o)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	stop = func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if err := r.WaitCurrent(testkit.Within(t, testkit.Patience)); err != nil {
		stop()
		t.Fatal(err)
	}
	return r, stop
}

// lease is the default of routers. Tests in virtual time use it where a time-to-live passes: a
// replica that missed a revision catches up with the next renewal.
const lease = 3 * time.Second

// hook is a registration of an instance for the event "tool:pre".
func hook(id, instance string) chain.Registration {
	return chain.Registration{ID: id, Events: []string{"tool:pre"}, Instance: instance}
}

func register(t *testing.T, r *registry.Registry, reg chain.Registration) uint64 {
	t.Helper()
	revision, err := r.Register(testkit.Within(t, testkit.Patience), "ann", reg)
	if err != nil {
		t.Fatal(err)
	}
	return revision
}

// called returns the ids of the hooks that a replica calls for "tool:pre", in order.
func called(t *testing.T, r *registry.Registry) string {
	t.Helper()
	table, err := r.Table()
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, entry := range table.For("tool:pre", "s1") {
		ids = append(ids, entry.Registration.ID)
	}
	return strings.Join(ids, " ")
}

// The promise of the registry: when a registration is answered, every replica calls the
// hook; and when its removal is, none does. Nobody waits or polls here.
func TestEveryReplicaCallsWhatIsRegistered(t *testing.T) {
	t.Parallel()
	server := natstest.Server(t)
	first := replica(t, server, registry.Options{Replica: "first"})
	second := replica(t, server, registry.Options{Replica: "second"})
	for n := range 30 {
		id := fmt.Sprint("h", n)
		register(t, first, hook(id, "i"))
		if got := called(t, second); got != id {
			t.Fatalf("the second replica calls %q, want %q", got, id)
		}
		if err := second.Unregister(t.Context(), "ann", id, ""); err != nil {
			t.Fatal(err)
		}
		if got := called(t, first); got != "" {
			t.Fatalf("the first replica still calls %q", got)
		}
	}
}

func TestHooksKeepTheirOrder(t *testing.T) {
	t.Parallel()
	server := natstest.Server(t)
	first := replica(t, server, registry.Options{Replica: "first"})
	urgent := hook("urgent", "i")
	urgent.Priority = -1
	for _, reg := range []chain.Registration{hook("b", "i"), hook("a", "i"), urgent} {
		register(t, first, reg)
	}
	changed := hook("b", "i")
	changed.TimeoutMS = 1234
	register(t, first, changed) // keeps its place
	second := replica(t, server, registry.Options{Replica: "second"})
	const want = "urgent b a"
	for _, r := range []*registry.Registry{first, second} {
		if got := called(t, r); got != want {
			t.Errorf("%s calls %q, want %q", r.Replica(), got, want)
		}
		list := r.List()
		if len(list) != 3 || list[0].ID != "urgent" || list[1].ID != "b" || list[1].TimeoutMS != 1234 || list[2].ID != "a" {
			t.Errorf("%s lists %+v", r.Replica(), list)
		}
	}
}

// The last instance takes the hook with it, unless the hook is durable.
func TestUnregister(t *testing.T) {
	t.Parallel()
	server := natstest.Server(t)
	first := replica(t, server, registry.Options{Replica: "first"})
	second := replica(t, server, registry.Options{Replica: "second"})
	durable := hook("durable", "i1")
	durable.OnFailure = "deny"
	for _, reg := range []chain.Registration{hook("plain", "i1"), hook("plain", "i2"), durable} {
		register(t, first, reg)
	}
	for _, step := range []struct {
		id, instance string
		left         string
		instances    int
	}{
		{"plain", "unknown", "plain durable", 2},
		{"plain", "i1", "plain durable", 1},
		{"plain", "i1", "plain durable", 1}, // again
		{"plain", "i2", "durable", 0},
		{"durable", "i1", "durable", 0},
		{"durable", "", "", 0},
		{"unknown", "", "", 0},
	} {
		if err := second.Unregister(t.Context(), "ann", step.id, step.instance); err != nil {
			t.Fatal(err)
		}
		for _, r := range []*registry.Registry{first, second} {
			if got, n := called(t, r), r.Instances(step.id); got != step.left || n != step.instances {
				t.Errorf("%s without instance %q at %s: %q are called, %d instances; want %q, %d",
					step.id, step.instance, r.Replica(), got, n, step.left, step.instances)
			}
		}
	}
}

func TestAnOlderVersionReplacesNothing(t *testing.T) {
	t.Parallel()
	server := natstest.Server(t)
	first := replica(t, server, registry.Options{Replica: "first"})
	second := replica(t, server, registry.Options{Replica: "second"})
	version := func(v string, priority int) chain.Registration {
		reg := hook("h", "of-"+v)
		reg.Version, reg.Priority = v, priority
		return reg
	}
	register(t, first, version("1.9.0", 9))
	register(t, second, version("1.10.0", 10))
	_, err := first.Register(t.Context(), "ann", version("1.9.1", 91))
	if wire.CodeOf(err) != wire.Conflict || !strings.Contains(err.Error(), `in version "1.10.0": version "1.9.1" is older`) {
		t.Errorf("the older version: %v", err)
	}
	for _, r := range []*registry.Registry{first, second} {
		if got := r.List()[0]; got.Version != "1.10.0" || got.Priority != 10 || len(got.Instances) != 2 {
			t.Errorf("%s lists %+v", r.Replica(), got)
		}
	}
}

// Both replicas change one hook at the same time: no instance is lost.
func TestChangesAtOnce(t *testing.T) {
	t.Parallel()
	const each = 10
	server := natstest.Server(t)
	var wg sync.WaitGroup
	var all []*registry.Registry
	for _, name := range []string{"first", "second"} {
		all = append(all, replica(t, server, registry.Options{Replica: name}))
	}
	for _, r := range all {
		wg.Go(func() {
			for n := range each {
				register(t, r, hook("h", fmt.Sprint(r.Replica(), n)))
			}
		})
	}
	wg.Wait()
	for _, r := range all {
		if got := r.Instances("h"); got != 2*each {
			t.Errorf("%s has %d instances, want %d", r.Replica(), got, 2*each)
		}
	}
}

// Each change is recorded before it is made. What can't be recorded is not made.
func TestARecordComesBeforeTheChange(t *testing.T) {
	t.Parallel()
	full := errors.New("the disk is full")
	var mu sync.Mutex
	var recorded []string
	var fail error
	r := replica(t, natstest.Server(t), registry.Options{Replica: "first", Record: func(_ context.Context, c registry.Change) error {
		mu.Lock()
		defer mu.Unlock()
		recorded = append(recorded, fmt.Sprintf("%s %s by %s", c.Action, c.Hook, c.By))
		return fail
	}})
	register(t, r, hook("h", "i1"))
	register(t, r, hook("h", "i1")) // a renewal changes nothing
	register(t, r, hook("h", "i2"))
	mu.Lock()
	fail = full
	mu.Unlock()
	if _, err := r.Register(t.Context(), "bob", hook("other", "i1")); !errors.Is(err, full) {
		t.Errorf("the registration: %v", err)
	}
	if err := r.Unregister(t.Context(), "bob", "h", ""); !errors.Is(err, full) {
		t.Errorf("the removal: %v", err)
	}
	if got := called(t, r); got != "h" {
		t.Errorf("%q are called, want h", got)
	}
	const want = "registered h by ann, instance h by ann, registered other by bob, unregistered h by bob"
	if got := strings.Join(recorded, ", "); got != want {
		t.Errorf("recorded %q, want %q", got, want)
	}
}

// cut is a server whose connections can be cut, and kept from coming back.
type cut struct {
	*embedded.Server

	mu    sync.Mutex
	off   bool
	conns []net.Conn
}

// InProcessConn connects, for [natsx.InProcess].
func (c *cut) InProcessConn() (net.Conn, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.off {
		return nil, errors.New("cut")
	}
	conn, err := c.Server.InProcessConn()
	c.conns = append(c.conns, conn)
	return conn, err
}

func (c *cut) set(off bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.off = off
	for _, conn := range c.conns {
		_ = conn.Close()
	}
	c.conns = nil
}

// A replica that is cut off serves nothing once its lease is over. The others wait for that
// lease, and no longer; then they may change what it would still have used.
func TestAReplicaThatIsCutOffIsStale(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		const lease = 700 * time.Millisecond
		server := natstest.Server(t)
		line := &cut{Server: server}
		away := replica(t, line, registry.Options{Replica: "away", Lease: lease})
		here := replica(t, server, registry.Options{Replica: "here", Lease: lease})
		register(t, here, hook("h", "i"))
		line.set(true)
		register(t, here, hook("new", "i"))
		if table, err := away.Table(); !errors.Is(err, registry.ErrStale) {
			t.Errorf("a change is answered while the replica still uses its table: %v, %v", table, err)
		}
		if _, err := away.Register(t.Context(), "ann", hook("other", "i")); !errors.Is(err, registry.ErrStale) {
			t.Errorf("a registration there: %v", err)
		}
		if err := away.Unregister(t.Context(), "ann", "h", ""); !errors.Is(err, registry.ErrStale) {
			t.Errorf("a removal there: %v", err)
		}
		line.set(false)
		if err := away.WaitCurrent(testkit.Within(t, testkit.Patience)); err != nil {
			t.Fatal(err)
		}
		if got := called(t, away); got != "h new" {
			t.Errorf("when it is back it calls %q, want both hooks", got)
		}
	})
}

// An instance that does not renew is removed, by one of the replicas; one that does stays,
// wherever it renews.
func TestInstancesExpire(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		const ttl = 300 * time.Millisecond
		server := natstest.Server(t)
		changed := make(chan string, 8)
		options := registry.Options{TTL: ttl, Lease: lease, Changed: func(action, hook string) {
			if action == "expired" {
				changed <- hook
			}
		}}
		options.Replica = "first"
		first := replica(t, server, options)
		options.Replica = "second"
		second := replica(t, server, options)
		durable := hook("durable", "i")
		durable.OnFailure = "deny"
		for _, reg := range []chain.Registration{hook("silent", "i"), durable, hook("alive", "i")} {
			register(t, first, reg)
		}
		ctx, tick := testkit.Within(t, testkit.Patience), time.NewTicker(ttl/10)
		defer tick.Stop()
		renewed, longest := time.Now(), time.Duration(0)
		expired := map[string]int{}
		for expired["silent"] == 0 || expired["durable"] == 0 {
			select {
			case id := <-changed:
				expired[id]++
			case <-tick.C:
				register(t, second, hook("alive", "i"))
				longest, renewed = max(longest, time.Since(renewed)), time.Now()
			case <-ctx.Done():
				t.Fatalf("expired: %v", expired)
			}
		}
		if expired["silent"] != 1 || expired["durable"] != 1 || expired["alive"] != 0 && longest < ttl/2 {
			t.Errorf("expired: %v; the one that is alive renewed after %v at most", expired, longest)
		}
		testkit.Eventually(t, "both replicas call the hook that is left and the durable one", func() bool {
			register(t, second, hook("alive", "i"))
			return called(t, first) == "durable alive" && called(t, second) == "durable alive" && first.Instances("durable") == 0 && first.Instances("alive") == 1
		})
	})
}

// A replica whose condition can't be compiled calls the hook, and it fails there.
func TestConditions(t *testing.T) {
	t.Parallel()
	broken := errors.New("no such function")
	r := replica(t, natstest.Server(t), registry.Options{Replica: "first", Compile: func(reg chain.Registration) (func(*chain.View) (bool, error), error) {
		if reg.Match == "" {
			return nil, nil
		}
		return nil, broken
	}})
	plain, matching := hook("plain", "i"), hook("matching", "i")
	matching.Match = "nothing()"
	register(t, r, plain)
	register(t, r, matching)
	table, err := r.Table()
	if err != nil {
		t.Fatal(err)
	}
	if table.Get("plain").Condition != nil {
		t.Error("a hook without a match has a condition")
	}
	if ok, err := table.Get("matching").Condition(nil); ok || !errors.Is(err, broken) {
		t.Errorf("the condition says %v, %v", ok, err)
	}
}

// What sessions have seen is kept for 30 days after the last change, and no longer.
func TestOldLabelsAreForgotten(t *testing.T) {
	t.Parallel()
	server := natstest.Server(t)
	conn := natstest.Connect(t, natsx.Options{InProcess: server})
	bucket, err := conn.OpenBucket(t.Context(), registry.Bucket(conn.Bucket(), 1))
	if err != nil {
		t.Fatal(err)
	}
	for name, age := range map[string]time.Duration{"old": labels.Retention + time.Hour, "young": labels.Retention - time.Hour} {
		record := labels.Record{Session: name}.With("guard", time.Now().Add(-age), "secret-read")
		body, err := record.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := bucket.Update(t.Context(), "label."+labels.Key(record.Name()), body, 0); err != nil {
			t.Fatal(err)
		}
	}
	r := replica(t, server, registry.Options{Replica: "first", Forget: 10 * time.Millisecond})
	testkit.Eventually(t, "the old session is forgotten", func() bool {
		seen, err := r.Labels(labels.Name("", "old"))
		return err == nil && len(seen) == 0
	})
	if seen, err := r.Labels(labels.Name("", "young")); err != nil || len(seen) != 1 {
		t.Errorf("the young session has seen %v, %v", seen, err)
	}
}
