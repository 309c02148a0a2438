package registry_test

import (
	"strings"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/pinned"
	"github.com/hookrouter/hookrouter/internal/registry"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
)

// A guard whose pin is lost stays pinned until an operator accepts the loss, and then no more. A
// guard that was pinned later stays so, as does a disabled hook.
func TestAnAcceptedLossUnpins(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		server := natstest.Server(t)
		r := replica(t, server, registry.Options{Replica: "here", Lease: 200 * time.Millisecond})
		for _, id := range []string{"lost", "kept"} {
			if err := r.Pin(t.Context(), pinned.Order{Guard: pinned.Guard{ID: id, Events: []string{"tool:pre"}}}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := r.Disable(t.Context(), "off", registry.Disabled{Time: time.Now()}); err != nil {
			t.Fatal(err)
		}
		inForce := func(lost bool) func() bool {
			return func() bool {
				guards, err := r.Pinned()
				return err == nil && (guards.CheckRemoval("lost") != nil) == lost && guards.CheckRemoval("kept") != nil && r.IsDisabled("off")
			}
		}
		if err := bucketOf(t, server).Erase(t.Context(), "pin.lost"); err != nil {
			t.Fatal(err)
		}
		testkit.Eventually(t, "the loss is noticed", func() bool {
			err := r.Ready()
			return err != nil && strings.Contains(err.Error(), "was pinned")
		})
		testkit.Eventually(t, "all orders are in force", inForce(true))
		testkit.Eventually(t, "the loss is accepted", func() bool {
			accepted, err := r.Accept(t.Context(), "ann")
			return accepted && err == nil
		})
		testkit.Eventually(t, "the other orders are in force", inForce(false))
		testkit.Eventually(t, "the hook is enabled", func() bool { _, err := r.Enable(t.Context(), "ann", "off"); return err == nil && !r.IsDisabled("off") })
	})
}
