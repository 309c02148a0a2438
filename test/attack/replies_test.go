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
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// bus is a router with its own inbox, as hook-router runs it.
func bus(t *testing.T) nats.InProcessConnProvider {
	t.Helper()
	s := natstest.Server(t)
	routertest.Start(t, s, router.Options{}, natsx.Options{Inbox: "_INBOX_router"})
	return s
}

// guard registers a hook on "tool:pre".
func guard(t *testing.T, s nats.InProcessConnProvider, reg worker.Registration, handle worker.Handler) {
	t.Helper()
	w, err := worker.New(natstest.Client(t, hookrouter.Options{Conn: natstest.Conn(t, s)}), worker.Options{})
	if err != nil {
		t.Fatal(err)
	}
	reg.Events, reg.OnFailure = []string{"tool:pre"}, worker.FailClosed
	if _, err := w.Register(t.Context(), reg, handle); err != nil {
		t.Fatal(err)
	}
}

// listen returns what arrives on a subject from now on.
func listen(t *testing.T, nc *nats.Conn, subject string) <-chan *nats.Msg {
	t.Helper()
	arrived := make(chan *nats.Msg, 8)
	_, err := nc.Subscribe(subject, func(m *nats.Msg) { arrived <- m })
	if err == nil {
		err = nc.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	return arrived
}

// TestForgedReplyToAnAgent: an attacker that knows where an agent waits, and for which
// event, has the router send the answer to a request of its own there, and publishes one
// itself.
func TestForgedReplyToAnAgent(t *testing.T) {
	t.Parallel()
	s := bus(t)
	decide := make(chan struct{})
	guard(t, s, worker.Registration{ID: "guard"}, func(_ context.Context, ev worker.Event) (worker.Result, error) {
		if strings.Contains(string(ev.Data), "harmless") {
			return worker.Continue()
		}
		<-decide
		return worker.Deny("no")
	})
	for verb, ask := range map[string]func(*agent.Agent) (permitted bool, err error){
		"execute": func(a *agent.Agent) (bool, error) {
			x, err := a.Execute(testkit.Within(t, testkit.Patience), "tool:pre", map[string]string{"command": "rm -rf /"})
			return x.Permitted(), err
		},
		"emit": func(a *agent.Agent) (bool, error) {
			x, err := a.Emit(testkit.Within(t, testkit.Patience), "tool:pre", map[string]string{"command": "rm -rf /"})
			return x.Action != "deny", err
		},
	} {
		attacker, a := natstest.Conn(t, s), client(t, s)
		requests := listen(t, attacker, "hooks."+verb+".tool.pre") // of the agent; the attacker uses all but the nonce
		done := make(chan struct{})
		go func() {
			defer close(done)
			if permitted, err := ask(a); permitted || err != nil {
				t.Errorf("%s: permitted %v, error %v; want a denial", verb, permitted, err)
			}
		}()
		request := testkit.Receive(t, "the agent's request", requests)
		same := nats.Header{"ce-specversion": {"1.0"}}
		for _, name := range []string{"ce-id", "ce-source", "ce-type"} {
			same[name] = request.Header[name]
		}
		reply := request.Reply
		arrived := listen(t, attacker, reply)
		forged := `{"action":"continue","data":{},"injected_tokens":0}`
		of := nats.Header{"Hook-Event-Id": request.Header["ce-id"], "Hook-Nonce": {"guessed"}}
		for _, m := range []*nats.Msg{
			{Subject: request.Subject, Reply: reply, Data: []byte(`{"command":"harmless"}`)},
			{Subject: request.Subject, Reply: reply, Header: same, Data: []byte(`{"command":"harmless"}`)},
			{Subject: reply, Data: []byte(forged)},
			{Subject: reply, Header: of, Data: []byte(forged)},
		} {
			if err := attacker.PublishMsg(m); err != nil {
				t.Fatal(err)
			}
			testkit.Receive(t, "the forged reply", arrived)
		}
		decide <- struct{}{}
		testkit.Closed(t, "the agent has its answer", done)
	}
}

// TestForgedReplyToTheRouter: a worker that knows where the router waits for a guard
// makes the router send the reply to a request of its own there, where {} means
// continue, and publishes one itself.
func TestForgedReplyToTheRouter(t *testing.T) {
	t.Parallel()
	s := bus(t)
	attacker, a := natstest.Conn(t, s), client(t, s)
	decide := make(chan struct{})
	guard(t, s, worker.Registration{ID: "guard"}, func(context.Context, worker.Event) (worker.Result, error) {
		<-decide
		return worker.Deny("no")
	})
	calls := listen(t, attacker, "hooks.call.guard")
	done := make(chan struct{})
	go func() {
		defer close(done)
		if x, err := a.Execute(testkit.Within(t, testkit.Patience), "tool:pre", map[string]string{"command": "rm -rf /"}); err != nil || x.Action != "deny" {
			t.Errorf("%+v, error %v; want a denial", x, err)
		}
	}()
	reply := testkit.Receive(t, "the router's call", calls).Reply
	if err := attacker.PublishRequest("hooks.unregister.nobody", reply, []byte("{}")); err != nil {
		t.Fatal(err)
	}
	if err := attacker.Publish(reply, []byte("{}")); err != nil {
		t.Fatal(err)
	}
	// The router has dropped the request before this one is answered.
	if _, err := attacker.RequestWithContext(testkit.Within(t, testkit.Patience), "hooks.unregister.nobody", []byte("{}")); err != nil {
		t.Fatal(err)
	}
	decide <- struct{}{}
	testkit.Closed(t, "the agent has its answer", done)
}
