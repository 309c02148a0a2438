package registry_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/registry"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/wire"
)

// A removal that was stored, and whose answer did not wait for every replica, is completed by the
// same request again.
func TestARemovalSentAgainWaitsForEveryReplica(t *testing.T) {
	for name, inst := range map[string]string{"of the hook": "", "of an instance": "i"} {
		t.Run(name, func(t *testing.T) {
			natstest.Bubble(t, func(t *testing.T) {
				const lease = 700 * time.Millisecond
				server := natstest.Server(t)
				line := &cut{Server: server}
				away := replica(t, line, registry.Options{Replica: "away", Lease: lease})
				here := replica(t, server, registry.Options{Replica: "here", Lease: lease})
				register(t, here, hook("h", "i"))
				line.set(true)
				short, cancel := context.WithTimeout(t.Context(), lease/10)
				defer cancel()
				if err := here.Unregister(short, "ann", "h", inst); wire.CodeOf(err) != wire.Unavailable {
					t.Fatalf("the removal: %v; want that not every replica knows", err)
				}
				if err := here.Unregister(t.Context(), "ann", "h", inst); err != nil {
					t.Fatal(err)
				}
				if table, err := away.Table(); !errors.Is(err, registry.ErrStale) {
					t.Errorf("the removal is answered, and another replica calls %d hooks, %v", len(table.For("tool:pre", "s1")), err)
				}
			})
		})
	}
}
