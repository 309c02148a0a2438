package registry_test

import (
	"context"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/registry"
	"github.com/hookrouter/hookrouter/internal/server/embedded"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
)

// A NATS server that started again has forgotten the watch of a replica. The replica takes
// the reconnect as the loss of the log and follows anew: it does not wait for its lease to
// lapse, nor for heartbeats of the watch that do not come.
func TestAReplicaFollowsSoonAfterNATSIsBack(t *testing.T) {
	t.Parallel()
	o := embedded.Options{StoreDir: natstest.StoreDir(t), NoSync: true}
	start := func() *embedded.Server {
		s, err := embedded.Start(o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Stop)
		return s
	}
	line := &cut{Server: start()}
	r := replica(t, line, registry.Options{Replica: "r", Lease: time.Minute})
	register(t, r, hook("before", "i"))
	line.set(true)
	line.Stop()
	line.Server = start()
	line.set(false)
	back := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), 9*time.Second) // heartbeats are missed after ten
	defer cancel()
	testkit.Eventually(t, "a registration is answered again, or too late", func() bool {
		_, err := r.Register(ctx, "ann", hook("after", "i")) // answered once this replica has read it
		return err == nil && r.Current() || ctx.Err() != nil // the old watch may have read it, just before the end of its lease
	})
	if ctx.Err() != nil || !r.Current() {
		t.Fatalf("no lease %v after NATS is back", time.Since(back))
	}
	t.Logf("%v after NATS is back", time.Since(back))
	if got := called(t, r); got != "before after" {
		t.Errorf("it calls %q", got)
	}
}
