package worker_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"go.uber.org/goleak"

	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/server/embedded"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

func TestMain(m *testing.M) {
	testkit.Parallel(40) // they wait for renewals
	goleak.VerifyTestMain(m)
}

// patience is how long a test waits for what must come.
const patience = 20 * time.Second

// connect connects a worker that is closed with the test.
func connect(t *testing.T, c hookrouter.Options, o worker.Options) *worker.Worker {
	t.Helper()
	w, err := worker.New(natstest.Client(t, c), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := w.Close(ctx); err != nil {
			t.Errorf("close the worker: %v", err)
		}
	})
	return w
}

// register registers a hook for tool:pre.
func register(t *testing.T, w *worker.Worker, reg worker.Registration, handler worker.Handler) (unregister func(context.Context) error) {
	t.Helper()
	if reg.Events == nil {
		reg.Events = []string{"tool:pre"}
	}
	unregister, err := w.Register(t.Context(), reg, handler)
	if err != nil {
		t.Fatal(err)
	}
	return unregister
}

func connectAgent(t *testing.T, s nats.InProcessConnProvider) *agent.Agent {
	t.Helper()
	a, err := agent.New(natstest.Client(t, hookrouter.Options{Conn: natstest.Conn(t, s)}), agent.Options{Session: "s1"})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// one is a server, a router, a worker and an agent.
func one(t *testing.T, o router.Options) (s *embedded.Server, w *worker.Worker, a *agent.Agent) {
	t.Helper()
	s = natstest.Server(t)
	routertest.Start(t, s, o)
	return s, connect(t, hookrouter.Options{Conn: natstest.Conn(t, s)}, worker.Options{}), connectAgent(t, s)
}

func emit(t *testing.T, a *agent.Agent, data string) agent.Answer {
	t.Helper()
	answer, err := a.Emit(t.Context(), "tool:pre", json.RawMessage(data))
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// eventually asks every few milliseconds until it is so.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for !is() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("not within %s: %s", patience, what)
		}
	}
}

// droppable is an embedded server whose connections can be cut.
type droppable struct {
	*embedded.Server

	mu    sync.Mutex // guards conns
	conns []net.Conn
}

func (d *droppable) InProcessConn() (net.Conn, error) {
	conn, err := d.Server.InProcessConn()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.conns = append(d.conns, conn)
	return conn, err
}

// drop cuts every connection that was made through d.
func (d *droppable) drop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, conn := range d.conns {
		_ = conn.Close()
	}
	d.conns = nil
}

// hearing is an embedded server whose connections can be kept from hearing answers.
type hearing struct {
	*embedded.Server

	mu   sync.Mutex    // guards open
	open chan struct{} // is closed while they hear them
}

func newHearing(t *testing.T, s *embedded.Server) *hearing {
	t.Helper()
	h := &hearing{Server: s, open: make(chan struct{})}
	close(h.open)
	t.Cleanup(h.resume)
	return h
}

func (h *hearing) InProcessConn() (net.Conn, error) {
	conn, err := h.Server.InProcessConn()
	return &heard{conn, h}, err
}

func (h *hearing) stop() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.open = make(chan struct{})
}

// resume lets them hear what came meanwhile, too.
func (h *hearing) resume() {
	h.mu.Lock()
	defer h.mu.Unlock()
	select {
	case <-h.open:
	default:
		close(h.open)
	}
}

func (h *hearing) gate() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.open
}

type heard struct {
	net.Conn
	from *hearing
}

func (c *heard) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if bytes.Contains(b[:n], []byte("_INBOX.")) {
		<-c.from.gate()
	}
	return n, err
}

// request sends a request as a client in any language does; header is names and
// values in turn.
func request(t *testing.T, nc *nats.Conn, subject, body string, header ...string) *nats.Msg {
	t.Helper()
	m := &nats.Msg{Subject: subject, Header: nats.Header{}, Data: []byte(body)}
	for i := 0; i < len(header); i += 2 {
		m.Header[header[i]] = header[i+1 : i+2]
	}
	reply, err := nc.RequestMsg(m, patience)
	if err != nil {
		t.Fatal(err)
	}
	return reply
}
