package approvals_test

import (
	"runtime"
	"testing"
	"time"
	"weak"

	"github.com/hookrouter/hookrouter/internal/approvals"
	"github.com/hookrouter/hookrouter/internal/approvals/held"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/pkg/approval"
)

// An agent that polls does not wait for a person. It gets the decision once there is one.
func TestAwaitWithoutTimeGivesTheDecision(t *testing.T) {
	t.Parallel()
	svc, _ := running(t, natstest.Server(t), approvals.Options{})
	for id, option := range map[string]string{"yes": "Allow", "no": "Deny"} {
		e := ask(t, svc, event(id, "s1"))
		if got := testkit.Receive(t, "pending", await(svc, e, time.Now())); got.decision != nil {
			t.Errorf("nobody answered: %+v", got.decision)
		}
		if _, err := svc.Answer(t.Context(), id, approval.Answer{Option: option}, "ann"); err != nil {
			t.Fatal(err)
		}
		for range 10 {
			got := testkit.Receive(t, "the decision", await(svc, e, time.Now()))
			if got.decision == nil || got.decision.Option != option || (got.event.Data != nil) != got.decision.Granted {
				t.Fatalf("%s: %+v, data %s", option, got.decision, got.event.Data)
			}
		}
	}
}

type told struct {
	event    *held.Event
	decision *approval.Decision
}

func await(svc *approvals.Service, e *held.Event, until time.Time) <-chan told {
	ch := make(chan told, 2)
	svc.Await(e, until, func(e *held.Event, d *approval.Decision) { ch <- told{e, d} })
	return ch
}

// Who waits is notified once, whichever replica the answer came to; with the data where it
// was granted.
func TestAwaitNotifiesOnce(t *testing.T) {
	t.Parallel()
	server := natstest.Server(t)
	here, stop := running(t, server, approvals.Options{})
	there := service(t, server, approvals.Options{})
	waits := map[string]<-chan told{}
	for id, option := range map[string]string{"yes": "Allow", "no": "Deny"} {
		e := ask(t, here, event(id, "s1"))
		waits[id] = await(here, e, time.Now().Add(time.Hour))
		if _, err := there.Answer(t.Context(), id, approval.Answer{Option: option}, "ann"); err != nil {
			t.Fatal(err)
		}
		got := testkit.Receive(t, "the decision", waits[id])
		if got.decision == nil || got.decision.Option != option || got.event.ID != id {
			t.Errorf("%s: notified of %+v, %+v", id, got.event, got.decision)
		}
		if option == "Allow" && string(got.event.Data) != data {
			t.Errorf("the data that was allowed is %q", got.event.Data)
		}
		late := testkit.Receive(t, "the decision", await(here, e, time.Now().Add(time.Hour)))
		if late.decision == nil || late.decision.Option != option {
			t.Errorf("%s: who comes later is notified of %+v", id, late.decision)
		}
	}
	stop()
	for id, wait := range waits {
		if len(wait) != 0 {
			t.Errorf("%s: notified again: %+v", id, <-wait)
		}
	}
}

// Without a decision, waiting ends with its time, or with the replica.
func TestAwaitEndsWithoutADecision(t *testing.T) {
	t.Parallel()
	svc, stop := running(t, natstest.Server(t), approvals.Options{})
	e := ask(t, svc, event("a1", "s1"))
	for sentence, until := range map[string]time.Duration{"a short wait": 5 * time.Millisecond, "no wait": 0} {
		if got := testkit.Receive(t, sentence, await(svc, e, time.Now().Add(until))); got.decision != nil || got.event.ID != "a1" {
			t.Errorf("%s: notified of %+v", sentence, got.decision)
		}
	}
	long := await(svc, e, time.Now().Add(time.Hour))
	stop()
	if got := testkit.Receive(t, "the end of the service", long); got.decision != nil {
		t.Errorf("at the end: notified of %+v", got.decision)
	}
	if len(long) != 0 {
		t.Error("notified twice")
	}
}

// TestAnEvictedWaiterKeepsNothing: an agent may send one event again and again. What evicted
// waiters hold is freed at once, not when their time comes.
func TestAnEvictedWaiterKeepsNothing(t *testing.T) {
	t.Parallel()
	svc, _ := running(t, natstest.Server(t), approvals.Options{})
	e := ask(t, svc, event("a1", "s1"))
	until := time.Now().Add(time.Hour)
	reply := weak.Make(evicted(t, svc, e, until))
	for range 64 {
		await(svc, e, until)
	}
	testkit.Eventually(t, "what the evicted waiter held is freed", func() bool { runtime.GC(); return reply.Value() == nil })
}

// evicted waits with a reply that the test must see freed.
func evicted(t *testing.T, svc *approvals.Service, r *held.Event, until time.Time) *[1 << 10]byte {
	t.Helper()
	reply := new([1 << 10]byte)
	svc.Await(r, until, func(*held.Event, *approval.Decision) { reply[0]++ })
	return reply
}

// "Allow always" is remembered before the agent goes on, which might ask again at once.
func TestRememberIsCalledBeforeTheWaiter(t *testing.T) {
	t.Parallel()
	remembered := make(chan string, 8)
	svc, _ := running(t, natstest.Server(t), approvals.Options{Sessions: &fake{remembered: remembered}})
	for id, option := range map[string]string{"once": "Allow", "always": "Allow always", "never": "Deny"} {
		e := event(id, "s1")
		e.Options = []string{"Allow", "Allow always", "Deny"}
		wait := await(svc, ask(t, svc, e), time.Now().Add(time.Hour))
		if _, err := svc.Answer(t.Context(), id, approval.Answer{Option: option}, "ann"); err != nil {
			t.Fatal(err)
		}
		testkit.Receive(t, "the decision", wait)
		n := len(remembered)
		for range n {
			if got := <-remembered; got != "always" {
				t.Errorf("%s is remembered", got)
			}
		}
		if (n > 0) != (id == "always") {
			t.Errorf("%s: remembered %d times when the waiter is notified", id, n)
		}
	}
}
