package registry_test

import (
	"strings"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/freeze"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/pinned"
	"github.com/hookrouter/hookrouter/internal/registry"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// A record that vanishes while no replica runs is missed by the next one that starts, until an
// operator accepts the loss.
func TestRecordsThatVanishWhileNoReplicaRunsAreLost(t *testing.T) {
	deleted := func(t *testing.T, b *natsx.Bucket, key string) error {
		e, err := b.Get(t.Context(), key)
		if err != nil {
			return err
		}
		return b.Remove(t.Context(), key, e.Revision)
	}
	purged := func(t *testing.T, b *natsx.Bucket, key string) error { return b.Erase(t.Context(), key) }
	for name, c := range map[string]struct {
		key    string
		remove func(*testing.T, *natsx.Bucket, string) error
		want   string // what is lost; empty for nothing
	}{
		"a purged guard":    {"hook.guard", purged, `hook "guard" is no longer in the bucket`},
		"a deleted guard":   {"hook.guard", deleted, `hook "guard" was deleted from the bucket`},
		"a purged pin":      {"pin.guard", purged, `hook "guard" was pinned`},
		"a purged freeze":   {"freeze.all", purged, "freeze.all is no longer in the bucket"},
		"a hook that comes": {"hook.passing", purged, ""},
		"a removed hook":    {"hook.removed", func(*testing.T, *natsx.Bucket, string) error { return nil }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			natstest.Bubble(t, func(t *testing.T) {
				server := natstest.Server(t)
				during(t, server, registry.Options{Replica: "before", Lease: 200 * time.Millisecond}, func(before *registry.Registry) {
					register(t, before, hook("passing", "i"))
					for _, id := range []string{"guard", "removed"} {
						guard := hook(id, "i")
						guard.OnFailure = chain.FailClosed
						register(t, before, guard)
					}
					if err := before.Pin(t.Context(), pinned.Order{Guard: pinned.Guard{ID: "guard", Events: []string{"tool:pre"}}}); err != nil {
						t.Fatal(err)
					}
					if err := before.Freeze(t.Context(), freeze.Order{Reason: "r", Time: time.Now()}); err != nil {
						t.Fatal(err)
					}
					bucket := bucketOf(t, server)
					listed := func() bool {
						e, err := bucket.Get(t.Context(), "inventory")
						return err == nil && string(e.Value) == `{"keys":["freeze.all","hook.guard","hook.removed","pin.guard"]}`
					}
					testkit.Eventually(t, "the inventory is stored", listed)
					if err := before.Unregister(t.Context(), "ann", "removed", ""); err != nil {
						t.Fatal(err)
					}
				})
				if err := c.remove(t, bucketOf(t, server), c.key); err != nil {
					t.Fatal(err)
				}
				during(t, server, registry.Options{Replica: "after", Lease: 200 * time.Millisecond}, func(after *registry.Registry) {
					err := after.Ready()
					if c.want == "" {
						if err != nil {
							t.Error(err)
						}
						return
					}
					if err == nil || !strings.Contains(err.Error(), c.want) {
						t.Errorf("%v, want %q", err, c.want)
					}
					testkit.Eventually(t, "the loss is accepted", func() bool {
						accepted, err := after.Accept(t.Context(), "ann")
						return accepted && err == nil
					})
					testkit.Eventually(t, "it serves", func() bool { return after.Ready() == nil })
				})
				if err := replica(t, server, registry.Options{Replica: "later", Lease: 200 * time.Millisecond}).Ready(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}
