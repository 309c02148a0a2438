package attack

import (
	"context"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
	"github.com/hookrouter/hookrouter/pkg/verdict"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

const reason = "Frozen by an operator: leaked token"

// operate sends a request of an operator and fails the test where it is refused.
func operate(t *testing.T, s nats.InProcessConnProvider, verb, body string) {
	t.Helper()
	m, err := natstest.Conn(t, s).RequestWithContext(testkit.Within(t, testkit.Patience), "hooks."+verb, []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	if code := m.Header.Get("Nats-Service-Error-Code"); code != "" {
		t.Fatalf("%s: code %s: %s", verb, code, m.Header.Get("Nats-Service-Error"))
	}
}

// TestAFreezeOverridesAChainThatIsUnderWay: the event was admitted before, and its hook
// lets it pass after the freeze returned.
func TestAFreezeOverridesAChainThatIsUnderWay(t *testing.T) {
	t.Parallel()
	s := bus(t)
	called, pass := make(chan struct{}), make(chan struct{})
	guard(t, s, worker.Registration{ID: "guard"}, func(context.Context, worker.Event) (worker.Result, error) {
		called <- struct{}{}
		<-pass
		return worker.Continue()
	})
	a, ctx := client(t, s), testkit.Within(t, testkit.Patience)
	for _, ask := range []func() (action, why string, err error){
		func() (string, string, error) {
			x, err := a.Execute(ctx, "tool:pre", command("ls"))
			return string(x.Action), x.Reason, err
		},
		func() (string, string, error) {
			r, err := a.Emit(ctx, "tool:pre", command("ls"))
			return string(r.Action), r.Reason, err
		},
	} {
		done := make(chan struct{})
		go func() {
			defer close(done)
			if action, why, err := ask(); action != "deny" || why != reason || err != nil {
				t.Errorf("%q, %q, %v; want a denial with the operator's text", action, why, err)
			}
		}()
		testkit.Receive(t, "the call of the guard", called)
		operate(t, s, "freeze", `{"all":true,"reason":"leaked token"}`)
		pass <- struct{}{}
		testkit.Closed(t, "the agent has its answer", done)
		operate(t, s, "thaw", `{"all":true}`)
	}
}

// TestAFreezeOverridesWhatPeopleAllowed: a permission that is given again, an "Allow
// always", and an answer that comes after the freeze.
func TestAFreezeOverridesWhatPeopleAllowed(t *testing.T) {
	t.Parallel()
	s, person, again := approved(t, router.Options{})
	ctx := testkit.Within(t, testkit.Patience)
	answer := func(option string) func(verdict.Approval) {
		return func(q verdict.Approval) {
			if option == "" {
				operate(t, s, "freeze", `{"session_id":"s1","reason":"leaked token"}`)
				option = "Allow once"
			}
			if _, err := person.Answer(ctx, q.ID, approval.Answer{Option: option}); err != nil {
				t.Error(err)
			}
		}
	}
	hook(t, s, worker.Registration{ID: "asks", Priority: 10}, func(_ context.Context, ev worker.Event) (worker.Result, error) {
		if strings.Contains(string(ev.Data), "always") {
			return worker.Ask("Fine?", "Allow always", "Deny")
		}
		return worker.Continue()
	})
	asking := func(option string) *agent.Agent {
		a, err := agent.New(natstest.Client(t, hookrouter.Options{Conn: natstest.Conn(t, s)}), agent.Options{Session: "s1", OnPending: answer(option)})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	if x, err := asking("Allow always").Execute(ctx, "tool:pre", command("always")); err != nil || !x.Permitted() {
		t.Fatalf("%+v, %v", x, err)
	}
	if x, err := asking("").Execute(ctx, "tool:pre", command("deploy once more")); err != nil || x.Permitted() || x.Reason != reason {
		t.Errorf("answered after the freeze: %+v, %v", x, err)
	}
	if x, err := client(t, s).Execute(ctx, "tool:pre", command("always")); err != nil || x.Permitted() || x.Reason != reason {
		t.Errorf("always allowed: %+v, %v", x, err)
	}
	for _, retry := range []bool{false, true} {
		if v, code := again(retry); v.Action != verdict.Deny || v.Reason != reason {
			t.Errorf("sent again, Hook-Retry %v: %+v %s", retry, v, code)
		}
	}
	other, err := agent.New(natstest.Client(t, hookrouter.Options{Conn: natstest.Conn(t, s)}), agent.Options{Session: "s2"})
	if err != nil {
		t.Fatal(err)
	}
	if x, err := other.Execute(ctx, "tool:pre", command("ls")); err != nil || !x.Permitted() {
		t.Errorf("another session: %+v, %v", x, err)
	}
	operate(t, s, "thaw", `{"session_id":"s1"}`)
	if x, err := client(t, s).Execute(ctx, "tool:pre", command("always")); err != nil || !x.Permitted() {
		t.Errorf("thawed: %+v, %v", x, err)
	}
}

// TestAFreezeOutlivesTheRouters: an agent that kills every router finds itself frozen.
func TestAFreezeOutlivesTheRouters(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	_, stop := routertest.Start(t, s, router.Options{}, natsx.Options{Inbox: "_INBOX_router"})
	operate(t, s, "freeze", `{"agent":"agent","reason":"leaked token"}`)
	stop()
	routertest.Start(t, s, router.Options{}, natsx.Options{Inbox: "_INBOX_router"})
	if x, err := client(t, s).Execute(testkit.Within(t, testkit.Patience), "tool:pre", command("ls")); err != nil || x.Permitted() || x.Reason != reason {
		t.Errorf("%+v, %v", x, err)
	}
}

// TestAnOrderNamesWhatItFreezes: an order that names nothing, too much or no reason is refused.
func TestAnOrderNamesWhatItFreezes(t *testing.T) {
	t.Parallel()
	s := bus(t)
	operator := natstest.Conn(t, s)
	for _, body := range []string{``, `{}`, `{"reason":"r"}`, `{"all":true}`, `{"all":true,"agent":"a","reason":"r"}`, `{"agent":"a","session_id":"s","reason":"r"}`, `{"agent":"a","reason":"two\nlines"}`} {
		m, err := operator.RequestWithContext(testkit.Within(t, testkit.Patience), "hooks.freeze", []byte(body))
		if err != nil {
			t.Fatal(err)
		}
		if code := m.Header.Get("Nats-Service-Error-Code"); code != "400" {
			t.Errorf("%s: code %q; want 400", body, code)
		}
	}
}
