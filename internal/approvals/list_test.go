package approvals_test

import (
	"strings"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/approvals"
	"github.com/hookrouter/hookrouter/internal/approvals/held"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/approval"
)

func TestLimits(t *testing.T) {
	t.Parallel()
	server := natstest.Server(t)
	svc := service(t, server, approvals.Options{MaxPerSession: 2, MaxOpen: 3})
	refused := func(e *held.Event, text string) {
		t.Helper()
		_, _, err := svc.Ask(t.Context(), e)
		mustHave(t, err, wire.Overloaded, text)
	}
	ask(t, svc, event("a1", "s1"))
	ask(t, svc, event("a2", "s1"))
	refused(event("a3", "s1"), "2 approval requests of this session are open")
	if _, asked, err := svc.Ask(t.Context(), event("a2", "s1")); asked || err != nil {
		t.Errorf("the request that is there: asked %v, %v", asked, err)
	}
	ask(t, svc, event("b1", "s2"))
	refused(event("b2", "s2"), "3 approval requests are open")
	if _, err := svc.Answer(t.Context(), "a1", approval.Answer{Option: "Deny"}, "ann"); err != nil {
		t.Fatal(err)
	}
	ask(t, svc, event("a3", "s1"))
}

// A proven agent leaves room for others, however many sessions it makes. What is decided
// counts no more among what is open, and what is dropped not at all.
func TestOneAgentCannotFillTheTable(t *testing.T) {
	t.Parallel()
	svc := service(t, natstest.Server(t), approvals.Options{MaxPerSession: 2, MaxOpen: 30})
	of := func(agent, id, session string) *held.Event {
		e := event(id, session)
		e.Emitter = agent
		return e
	}
	for _, n := range []string{"1", "2", "3"} {
		ask(t, svc, of("nats agent/coder", "a"+n, "s"+n))
	}
	_, _, err := svc.Ask(t.Context(), of("nats agent/coder", "a4", "s4"))
	mustHave(t, err, wire.Overloaded, "3 approval requests of this agent are open")
	ask(t, svc, of("nats agent/rival", "b1", "s1"))
	ask(t, svc, event("c1", "s5"))
	if _, err := svc.Answer(t.Context(), "a1", approval.Answer{Option: "Deny"}, "ann"); err != nil {
		t.Fatal(err)
	}
	ask(t, svc, of("nats agent/coder", "a4", "s4"))

	small := service(t, natstest.Server(t), approvals.Options{MaxKept: 100})
	ask(t, small, of("nats agent/coder", "a1", "s1"))
	_, _, err = small.Ask(t.Context(), of("nats agent/coder", "a2", "s2"))
	mustHave(t, err, wire.Overloaded, "of this agent are stored")
}

// What is listed, shown and sent to watchers is masked; what is decided on is not.
func TestRequestsAreMasked(t *testing.T) {
	t.Parallel()
	svc, _ := running(t, natstest.Server(t), approvals.Options{Mask: func(r *approval.Record) { r.Prompt, r.Data = "masked", nil }})
	notices, stop := svc.Watch()
	defer stop()
	e := event("a1", "s1")
	if got := svc.Masked(e.Request); got.Prompt != "masked" || got.ID != "a1" || e.Prompt != "Deploy a1?" {
		t.Errorf("masked: %+v, of %q", got, e.Prompt)
	}
	stored := ask(t, svc, e)
	if stored.Prompt != "Deploy a1?" || string(stored.Data) != data {
		t.Errorf("it is stored as %+v", stored)
	}
	if n := testkit.Receive(t, "the notice", notices); n.Request.Prompt != "masked" || n.Decision != nil {
		t.Errorf("the notice is %+v", n)
	}
	list, total, err := svc.Pending(t.Context(), approval.Filter{Session: "s1"})
	if err != nil || total != 1 || list[0].Prompt != "masked" {
		t.Errorf("the list is %+v, %v", list, err)
	}
	if r, err := svc.Get(t.Context(), "a1"); err != nil || r.Prompt != "masked" || r.Data != nil {
		t.Errorf("it is shown as %+v, %v", r, err)
	}
}

// The oldest is listed first, at every replica.
func TestPending(t *testing.T) {
	t.Parallel()
	server := natstest.Server(t)
	writer := service(t, server, approvals.Options{})
	reader, _ := running(t, server, approvals.Options{})
	base := time.Now()
	for id, age := range map[string]time.Duration{"young": 0, "oldest": 2 * time.Minute, "old": time.Minute} {
		e := event(id, "s1")
		e.Created = approval.At(base.Add(-age))
		ask(t, writer, e)
	}
	ask(t, writer, event("other", "s2"))
	for _, test := range []struct {
		filter approval.Filter
		total  int
		ids    string
	}{
		{approval.Filter{Session: "s1"}, 3, "oldest old young"},
		{approval.Filter{Session: "s1", Limit: 2}, 3, "oldest old"},
		{approval.Filter{Session: "s1", Newest: true}, 3, "young old oldest"},
		{approval.Filter{Session: "s1", Newest: true, Limit: 1}, 3, "young"},
		{approval.Filter{Session: "s1", Room: 1 << 20}, 3, "oldest old young"},
		{approval.Filter{Session: "s1", Room: 1}, 3, ""},
		{approval.Filter{Session: "s3"}, 0, ""},
		{approval.Filter{Limit: 1}, 4, "oldest"},
	} {
		list, total, err := reader.Pending(t.Context(), test.filter)
		var ids []string
		for _, q := range list {
			ids = append(ids, q.ID)
		}
		if got := strings.Join(ids, " "); err != nil || total != test.total || got != test.ids {
			t.Errorf("%+v: %d, %q, %v; want %d, %q", test.filter, total, got, err, test.total, test.ids)
		}
	}
}
