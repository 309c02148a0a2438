package attack

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// TestAHeldGuardOpensNothing: one agent keeps all places of a guard's worker busy, so that the
// call of another agent is not answered in time, whatever the guard is: pinned or not.
func TestAHeldGuardOpensNothing(t *testing.T) {
	t.Parallel()
	for _, pin := range []bool{false, true} {
		s := natstest.Server(t)
		fleet(t, s)
		release, held := make(chan struct{}), make(chan struct{}, 64)
		w, err := worker.New(natstest.Client(t, hookrouter.Options{Conn: natstest.Conn(t, s)}), worker.Options{MaxInFlight: 2})
		ok(t, err)
		reg := worker.Registration{ID: "guard", Events: []string{"tool:pre"}, OnFailure: worker.FailClosed, TimeoutMS: 500}
		_, err = w.Register(t.Context(), reg, func(ctx context.Context, ev worker.Event) (worker.Result, error) {
			if strings.Contains(string(ev.Data), "hold") {
				held <- struct{}{}
				<-release
			}
			return denies(ctx, ev)
		})
		ok(t, err)
		if pin {
			operate(t, s, "guard.pin", `{"id":"guard","events":["tool:pre"]}`)
		}
		holder, err := agent.New(natstest.Client(t, hookrouter.Options{Conn: natstest.Conn(t, s), Patience: 1}), agent.Options{Session: "s2"})
		ok(t, err)
		ctx := testkit.Within(t, testkit.Patience)
		var holding sync.WaitGroup
		for range 6 {
			holding.Go(func() {
				if x, err := holder.Execute(ctx, "tool:pre", command("hold")); err == nil && x.Permitted() {
					t.Errorf("pinned %v: who holds the guard is permitted: %+v", pin, x)
				}
			})
		}
		for range 2 {
			testkit.Receive(t, "a call that holds the guard", held)
		}
		for _, line := range []string{"rm -rf /", "ls"} {
			if x, err := client(t, s).Execute(ctx, "tool:pre", command(line)); err == nil && x.Permitted() {
				t.Errorf("pinned %v: %s is permitted while its guard is held: %+v", pin, line, x)
			}
		}
		close(release)
		holding.Wait()
		testkit.Until(t, ctx, "the guard answers again", func() bool {
			x, err := client(t, s).Execute(ctx, "tool:pre", command("ls"))
			return err == nil && x.Permitted()
		})
	}
}

// TestAPinAndADisableAtOnce: orders that exclude each other, to several replicas. Whichever
// came first, the events of a pinned guard do not pass without it.
func TestAPinAndADisableAtOnce(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	fleet(t, s)
	guard(t, s, worker.Registration{ID: "guard"}, denies)
	nc, a := natstest.Conn(t, s), client(t, s)
	ctx := testkit.Within(t, testkit.Patience)
	for round := range 20 {
		var orders sync.WaitGroup
		var pinned string
		orders.Go(func() { pinned, _ = code(t, nc, "hooks.guard.pin", `{"id":"guard","events":["tool:pre"]}`) })
		orders.Go(func() { _, _ = code(t, nc, "hooks.hook.disable", `{"id":"guard"}`) })
		orders.Wait()
		if x, err := a.Execute(ctx, "tool:pre", command("rm -rf /")); pinned == "" && err == nil && x.Permitted() {
			t.Errorf("round %d: the pin is answered, and the event passes: %+v", round, x)
		}
		_, _ = code(t, nc, "hooks.guard.unpin", `{"id":"guard"}`)
		_, _ = code(t, nc, "hooks.hook.enable", `{"id":"guard"}`)
	}
}
