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

// A purge leaves no marker. A replica that knows a guard or a pin that is gone stops, and so does one
// that starts later.
func TestAPurgeOfTheBucketIsNoticed(t *testing.T) {
	for name, c := range map[string]struct {
		purge, want string
	}{
		"a guard":           {"hook.guard", `hook "guard" is no longer in the bucket`},
		"a pin":             {"pin.guard", `hook "guard" was pinned`},
		"everything":        {">", "no longer in the bucket"},
		"a hook that comes": {"hook.passing", ""},
	} {
		t.Run(name, func(t *testing.T) {
			natstest.Bubble(t, func(t *testing.T) {
				server := natstest.Server(t)
				short := registry.Options{Replica: "here", Lease: 200 * time.Millisecond}
				here := replica(t, server, short)
				guard := hook("guard", "i")
				guard.OnFailure = chain.FailClosed
				register(t, here, guard)
				register(t, here, hook("passing", "i"))
				if err := here.Pin(t.Context(), pinned.Order{Guard: pinned.Guard{ID: "guard", Events: []string{"tool:pre"}}}); err != nil {
					t.Fatal(err)
				}
				if err := bucketOf(t, server).Erase(t.Context(), c.purge); err != nil {
					t.Fatal(err)
				}
				if c.want == "" {
					lost := func() bool { err := here.Ready(); return err != nil && strings.Contains(err.Error(), "in the bucket") }
					if testkit.Soon(testkit.Within(t, 5*short.Lease), lost) {
						t.Error(here.Ready())
					}
					return
				}
				testkit.Eventually(t, "the loss is noticed", func() bool {
					err := here.Ready()
					return err != nil && strings.Contains(err.Error(), c.want)
				})
				later := replica(t, server, registry.Options{Replica: "later", Lease: short.Lease})
				testkit.Eventually(t, "a replica that starts later knows", func() bool {
					err := later.Ready()
					return err != nil && strings.Contains(err.Error(), "registrations are lost")
				})
			})
		})
	}
}

// An order to freeze that was purged or deleted holds for replicas that start later, until it is
// thawed.
func TestAFreezeOutlivesItsRecord(t *testing.T) {
	order := freeze.Order{Reason: "r", Time: time.Now()}
	for name, remove := range map[string]func(*testing.T, *natsx.Bucket, string) error{
		"purged": func(t *testing.T, b *natsx.Bucket, key string) error { return b.Erase(t.Context(), key) },
		"deleted": func(t *testing.T, b *natsx.Bucket, key string) error {
			e, err := b.Get(t.Context(), key)
			if err != nil {
				return err
			}
			return b.Remove(t.Context(), key, e.Revision)
		},
	} {
		t.Run(name, func(t *testing.T) {
			natstest.Bubble(t, func(t *testing.T) {
				server := natstest.Server(t)
				here := replica(t, server, registry.Options{Replica: "here", Lease: 200 * time.Millisecond})
				if err := here.Freeze(t.Context(), order); err != nil {
					t.Fatal(err)
				}
				bucket := bucketOf(t, server)
				if err := remove(t, bucket, "freeze.all"); err != nil {
					t.Fatal(err)
				}
				if name == "purged" {
					testkit.Eventually(t, "it is written again", func() bool { _, err := bucket.Get(t.Context(), "freeze.all"); return err == nil })
					later := replica(t, server, registry.Options{Replica: "later", Lease: 200 * time.Millisecond})
					testkit.Eventually(t, "a later replica is frozen", func() bool { order, err := later.Frozen("a", "s"); return err == nil && order != nil })
				}
				if thawed, err := here.Thaw(testkit.Within(t, testkit.Patience), order); !thawed || err != nil {
					t.Errorf("thawed %v, %v", thawed, err)
				}
				if order, err := here.Frozen("a", "s"); order != nil || err != nil {
					t.Errorf("after the thaw: %v, %v", order, err)
				}
			})
		})
	}
}

// bucketOf opens the bucket of registrations as an operator does.
func bucketOf(t *testing.T, server natsx.InProcess) *natsx.Bucket {
	t.Helper()
	conn := natstest.Connect(t, natsx.Options{InProcess: server})
	bucket, err := conn.FindBucket(t.Context(), conn.Bucket())
	if err != nil {
		t.Fatal(err)
	}
	return bucket
}
