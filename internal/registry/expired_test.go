package registry_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/registry"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
)

// A replica removes an instance that does not renew, and does not read its own write for several
// times-to-live: it records the removal once.
func TestAnInstanceIsRecordedAsExpiredOnce(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		const ttl = 300 * time.Millisecond
		stall := &natstest.Stall{Subject: "$KV."}
		var recorded atomic.Int64
		removed := make(chan struct{}, 1)
		r := replica(t, stall.InProcess(natstest.Server(t)), registry.Options{
			Replica: "r", Lease: time.Minute, TTL: ttl,
			Record: func(_ context.Context, c registry.Change) error {
				if c.Action == "expired" {
					recorded.Add(1)
				}
				return nil
			},
			Changed: func(action, _ string) {
				if action == "expired" {
					removed <- struct{}{}
				}
			},
		})
		register(t, r, hook("h", "i"))
		stall.Stop()
		testkit.Receive(t, "the instance is removed", removed)
		time.Sleep(3 * ttl) //nolint:forbidigo // of the bubble's clock
		if called(t, r) != "h" {
			t.Fatal("the replica has read the removal: nothing was held back")
		}
		stall.Go()
		testkit.Eventually(t, "the replica reads the removal", func() bool { return called(t, r) == "" })
		if n := recorded.Load(); n != 1 {
			t.Errorf("the instance is recorded as expired %d times; want once", n)
		}
	})
}

// A replica with a shorter time-to-live than the one that registered an instance does not expire it
// between two renewals.
func TestTheLongestTimeToLiveCounts(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		server := natstest.Server(t)
		long := replica(t, server, registry.Options{Replica: "long", TTL: 15 * time.Second, Lease: lease})
		short := replica(t, server, registry.Options{Replica: "short", TTL: time.Second, Lease: lease})
		register(t, long, hook("h", "i"))
		for range 4 {
			time.Sleep(5 * time.Second) //nolint:forbidigo // of the bubble's clock
			for _, r := range []*registry.Registry{long, short} {
				if called(t, r) != "h" {
					t.Fatalf("%s does not call the hook", r.Replica())
				}
			}
			register(t, long, hook("h", "i")) // renews
		}
		testkit.Eventually(t, "it expires without renewals", func() bool { return called(t, short) == "" })
	})
}
