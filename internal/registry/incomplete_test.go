package registry

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/freeze"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// While records wait behind a batch, a replica has read a change and applied only what was before
// it. Whoever made the change waits for the replicas that may not have it.
func TestAChangeWaitsForOthersThoughMoreRecordsFollow(t *testing.T) {
	t.Parallel()
	order := freeze.Order{Reason: "r", Time: time.Now()}
	for name, change := range map[string]func(context.Context, *Registry) error{
		"unregister": func(ctx context.Context, r *Registry) error { return r.Unregister(ctx, "ann", "h", "") },
		"disable": func(ctx context.Context, r *Registry) error {
			_, err := r.Disable(ctx, "h", Disabled{Time: time.Now()})
			return err
		},
		"enable": func(ctx context.Context, r *Registry) error { _, err := r.Enable(ctx, "ann", "off"); return err },
		"thaw":   func(ctx context.Context, r *Registry) error { _, err := r.Thaw(ctx, order); return err },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn, bucket := emptyBucket(t)
			r := New(conn, bucket, Options{Replica: "here", Lease: time.Minute})
			more := following(t, r)
			_, err := r.register(t.Context(), "ann", chain.Registration{ID: "h", Events: []string{"tool:pre"}, Instance: "i"})
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Freeze(t.Context(), order); err != nil {
				t.Fatal(err)
			}
			if _, err := r.Disable(t.Context(), "off", Disabled{Time: time.Now()}); err != nil {
				t.Fatal(err)
			}
			revision, err := bucket.Put(t.Context(), replicaKey+"other", []byte(`{"renewal":1}`))
			if err != nil {
				t.Fatal(err)
			}
			if err := r.waitApplied(testkit.Within(t, testkit.Patience), revision); err != nil {
				t.Fatal(err)
			}
			more.Store(true)
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			if err := change(ctx, r); wire.CodeOf(err) != wire.Unavailable {
				t.Errorf("it is answered though another replica may not know: %v", err)
			}
		})
	}
}

// A durable hook whose record is replaced while a replica reads the bucket is late, not lost.
func TestAHookThatIsReplacedMeanwhileIsNotLost(t *testing.T) {
	t.Parallel()
	conn, bucket := emptyBucket(t)
	guard := []byte(`{"registration":{"id":"guard","events":["tool:pre"],"on_failure":"deny"},"instances":{}}`)
	for key, value := range map[string][]byte{replicaKey + "other": []byte(`{"renewal":1}`), hookKey + "guard": guard} {
		if _, err := bucket.Put(t.Context(), key, value); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := bucket.Put(t.Context(), hookKey+"guard", guard); err != nil {
		t.Fatal(err)
	}
	r := New(conn, bucket, Options{Replica: "here"})
	f := newFollower(r)
	known, err := decodeHook(natsx.Entry{Key: hookKey + "guard", Value: guard, Revision: 1}, r.options.Compile)
	if err != nil {
		t.Fatal(err)
	}
	r.known = map[string]*hook{"guard": known}
	for _, e := range []natsx.Entry{
		{Key: replicaKey + "other", Value: []byte(`{"renewal":1}`), Revision: 2, Last: true}, // so says the server
		{Key: hookKey + "guard", Value: guard, Revision: 3, Last: true},
	} {
		if err := f.apply(t.Context(), []natsx.Entry{e}, true); err != nil {
			t.Fatal(err)
		}
		if l := r.lost.Load(); l != nil {
			t.Errorf("at revision %d: %v", e.Revision, l.err())
		}
	}
}

// following has a registry follow its bucket with a lease that does not end. While more is true,
// records seem to wait behind each batch.
func following(t *testing.T, r *Registry) (more *atomic.Bool) {
	t.Helper()
	f := newFollower(r)
	r.leaseUntil.Store(math.MaxInt64)
	more = new(atomic.Bool)
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	t.Cleanup(func() { cancel(); wg.Wait() })
	wg.Go(func() {
		_ = r.bucket.Follow(ctx, func(batch []natsx.Entry, loaded bool) error {
			for i := range batch {
				batch[i].Last = batch[i].Last && !more.Load()
			}
			return f.apply(ctx, batch, loaded)
		})
	})
	return more
}

// newFollower makes the follower of a registry that holds nothing.
func newFollower(r *Registry) *follower {
	r.hooks, r.gone, r.replicas, r.seen = map[string]*hook{}, map[string]uint64{}, map[string]*peer{}, map[instanceKey]time.Time{}
	return &follower{
		registry: r, lease: &lease{registry: r, loaded: make(chan struct{}), sent: map[uint64]time.Time{}}, next: &chain.Table{},
		present: map[string]bool{}, gaps: gaps{bucket: r.bucket, timeout: time.Second, log: r.options.Log},
	}
}

// emptyBucket is a registry without a record, on a server of its own.
func emptyBucket(t *testing.T) (*natsx.Conn, *natsx.Bucket) {
	t.Helper()
	conn := natstest.Connect(t, natsx.Options{InProcess: natstest.Server(t)})
	bucket, err := conn.OpenBucket(t.Context(), Bucket(conn.Bucket(), 1))
	if err != nil {
		t.Fatal(err)
	}
	return conn, bucket
}
