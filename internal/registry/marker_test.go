package registry_test

import (
	"strings"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/registry"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// A guard is deleted from the bucket while a replica cannot follow it. The replica says the same of
// it as one that followed.
func TestAReplicaThatWasAwayKnowsThatAGuardWasDeleted(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		const lease = 700 * time.Millisecond
		server := natstest.Server(t)
		line := &cut{Server: server}
		away := replica(t, line, registry.Options{Replica: "away", Lease: lease})
		guard := hook("guard", "i")
		guard.OnFailure = chain.FailClosed
		revision := register(t, away, guard)
		line.set(true)
		time.Sleep(3 * lease) //nolint:forbidigo // of the bubble's clock
		if err := bucketOf(t, server).Remove(t.Context(), "hook.guard", revision); err != nil {
			t.Fatal(err)
		}
		line.set(false)
		if err := away.WaitCurrent(testkit.Within(t, testkit.Patience)); err != nil {
			t.Fatal(err)
		}
		if err := away.Ready(); err == nil || !strings.Contains(err.Error(), `hook "guard" was deleted from the bucket`) {
			t.Errorf("the replica says %v", err)
		}
	})
}
