package integration

import (
	"context"
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"go.uber.org/goleak"

	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// TestMain runs the tests, or a role of the processes that they start.
func TestMain(m *testing.M) {
	switch os.Getenv(roleVariable) {
	case "":
	case "agent":
		os.Exit(agentRole())
	default:
		os.Exit(workerRole())
	}
	switch tier := os.Getenv("HOOKROUTER_TEST_TIER"); {
	case os.Getenv("HOOKROUTER_FULL") != "" || tier == "full":
		testkit.Parallel(1) // at full volume they compute, and their deadlines need the machine
	case tier == "ci":
		testkit.Parallel(8) // they wait more than they compute
	default:
		testkit.Parallel(20)
		_ = os.Setenv("GOGC", "400") // of processes that live for seconds: see testkit
	}
	goleak.VerifyTestMain(m)
}

// early lets a test that waits for some seconds begin before those that run in parallel, so
// that the time passes while they run. The test calls waiting where that begins. From the
// tier ci on it waits for its turn as the others do, which may take longer than it has time.
func early(t *testing.T) (waiting func()) {
	t.Helper()
	if testkit.CurrentTier(t) == testkit.Smoke {
		return t.Parallel
	}
	t.Parallel()
	return func() {}
}

func newWorker(t *testing.T, nc *nats.Conn, o worker.Options) *worker.Worker {
	t.Helper()
	w, err := worker.New(natstest.Client(t, hookrouter.Options{Conn: nc}), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = w.Close(ctx) // the router may be gone
	})
	return w
}

func newAgent(t *testing.T, nc *nats.Conn, o agent.Options) *agent.Agent {
	t.Helper()
	a, err := agent.New(natstest.Client(t, hookrouter.Options{Conn: nc}), o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// request sends raw bytes, as any NATS client would.
func request(t *testing.T, ctx context.Context, nc *nats.Conn, subject string, header nats.Header, body string) *nats.Msg {
	t.Helper()
	msg, err := nc.RequestMsgWithContext(ctx, &nats.Msg{Subject: subject, Header: header, Data: []byte(body)})
	if err != nil {
		t.Fatalf("request %s: %v", subject, err)
	}
	return msg
}

// insist is request, again while the answer is 503, as clients do: nothing was decided.
func insist(t *testing.T, ctx context.Context, nc *nats.Conn, subject, body string) (m *nats.Msg) {
	t.Helper()
	testkit.Until(t, ctx, subject+" is served", func() bool {
		m = request(t, ctx, nc, subject, nil, body)
		return code(m) != "503"
	})
	return m
}

// seldom is [testkit.Until] for what it costs something to ask.
func seldom(t *testing.T, ctx context.Context, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("timed out waiting until %s", what)
		}
	}
}

// next is the next message of a subscription.
func next(t *testing.T, ctx context.Context, sub *nats.Subscription) *nats.Msg {
	t.Helper()
	m, err := sub.NextMsgWithContext(ctx)
	if err != nil {
		t.Fatalf("nothing came on %s: %v", sub.Subject, err)
	}
	return m
}

// take is the next value of a channel.
func take[T any](t *testing.T, ctx context.Context, ch <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-ch:
	case <-ctx.Done():
		t.Fatal("in time nothing came")
	}
	return v
}

// listen subscribes, and the server knows when it returns.
func listen(t *testing.T, nc *nats.Conn, subject string) *nats.Subscription {
	t.Helper()
	sub, err := nc.SubscribeSync(subject)
	if err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sub.Unsubscribe() })
	return sub
}

// hook answers for a hook with what do returns, nil for no answer, and registers
// it.
func hook(t *testing.T, ctx context.Context, nc *nats.Conn, id, registration string, do func(*nats.Msg) []byte) {
	t.Helper()
	sub, err := nc.QueueSubscribe("hooks.call."+id, id, func(m *nats.Msg) {
		if answer := do(m); answer != nil && m.Reply != "" {
			_ = m.Respond(answer)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sub.Unsubscribe() })
	if m := request(t, ctx, nc, "hooks.register."+id, nil, registration); code(m) != "" {
		t.Fatal(m.Header)
	}
}

// says is for hooks that answer always the same.
func says(answer string) func(*nats.Msg) []byte {
	return func(*nats.Msg) []byte { return []byte(answer) }
}

// decode reads JSON.
func decode[T any](t *testing.T, body []byte) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(body, &v); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return v
}

// code is the refusal code of a reply, "" for none.
func code(m *nats.Msg) string { return m.Header.Get("Nats-Service-Error-Code") }

func raw(text string) json.RawMessage { return json.RawMessage(text) }

func register(t *testing.T, ctx context.Context, w *worker.Worker, reg worker.Registration, h worker.Handler) func(context.Context) error {
	t.Helper()
	unregister, err := w.Register(ctx, reg, h)
	if err != nil {
		t.Fatal(err)
	}
	return unregister
}
