package registry_test

import (
	"errors"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/registry"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
)

// A claim that another event is still storing is not known everywhere yet: the second event with
// it waits for the other replicas too.
func TestAStoredClaimIsKnownEverywhere(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		const lease = 700 * time.Millisecond
		server := natstest.Server(t)
		line := &cut{Server: server}
		away := replica(t, line, registry.Options{Replica: "away", Lease: lease})
		here := replica(t, server, registry.Options{Replica: "here", Lease: lease})
		if _, err := here.AddLabels(t.Context(), "parent", map[string]string{"secret-read": "h"}); err != nil {
			t.Fatal(err)
		}
		line.set(true)
		first := make(chan error, 1)
		go func() { first <- here.Claim(t.Context(), "child", "parent", "") }()
		testkit.Eventually(t, "the claim is stored", func() bool { return here.Session("child").Parent == "parent" })
		if err := here.Claim(t.Context(), "child", "parent", ""); err != nil {
			t.Fatal(err)
		}
		if known, err := away.Labels("child"); len(known) == 0 && !errors.Is(err, registry.ErrStale) {
			t.Errorf("the claim is answered, and another replica sees the labels %v, %v", known, err)
		}
		if err := <-first; err != nil {
			t.Fatal(err)
		}
	})
}
