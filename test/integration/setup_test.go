package integration

import (
	"context"
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"go.uber.org/goleak"

	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// volume is how often a long test does its thing: whole in CI, a tenth else.
func volume(t *testing.T, whole int) int {
	n := whole
	if os.Getenv("HOOKROUTER_FULL") == "" {
		n = max(whole/10, 1)
	}
	t.Logf("volume: %d of %d", n, whole)
	return n
}

func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

func newWorker(t *testing.T, ctx context.Context, nc *nats.Conn, o worker.Options) *worker.Worker {
	t.Helper()
	o.Conn = nc
	w, err := worker.Connect(ctx, o)
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

func newAgent(t *testing.T, ctx context.Context, nc *nats.Conn, o agent.Options) *agent.Agent {
	t.Helper()
	o.Conn = nc
	a, err := agent.Connect(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
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
