package mcpproxy_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hookrouter/hookrouter/internal/agenthook"
	"github.com/hookrouter/hookrouter/internal/mcpproxy"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// serverVariable makes this test program an MCP server of the mode that it names.
const serverVariable = "MCP_TEST_SERVER"

func TestMain(m *testing.M) {
	if mode := os.Getenv(serverVariable); mode != "" {
		os.Exit(serve(mode))
	}
	testkit.Parallel(8) // they wait for processes and routers
	goleak.VerifyTestMain(m)
}

// bus is a router with one hook, whose handler a test sets.
type bus struct {
	url     string
	handler atomic.Pointer[worker.Handler]
	client  *hookrouter.Client
	stop    func() // stops the router, not NATS
	restart func()
}

func start(t testing.TB) *bus {
	t.Helper()
	s := natstest.Listening(t)
	_, stop := routertest.Start(t, s, router.Options{})
	b := &bus{url: s.ClientURL(), stop: stop, restart: func() { routertest.Start(t, s, router.Options{}) }}
	b.client = natstest.Client(t, hookrouter.Options{Conn: natstest.Conn(t, s)})
	w := natstest.Worker(t, b.client, worker.Options{})
	b.answer(func(context.Context, worker.Event) (worker.Result, error) { return worker.Continue() })
	handler := func(ctx context.Context, ev worker.Event) (worker.Result, error) { return (*b.handler.Load())(ctx, ev) }
	reg := worker.Registration{ID: "guard", Events: []string{"tool:pre", "tool:post", agenthook.UncheckedEvent}, OnFailure: worker.FailClosed}
	if _, err := w.Register(t.Context(), reg, handler); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *bus) answer(h worker.Handler) { b.handler.Store(&h) }

// at has the hook answer events of one name, and let the others pass.
func (b *bus) at(event string, h worker.Handler) {
	b.answer(func(ctx context.Context, ev worker.Event) (worker.Result, error) {
		if ev.Name != event {
			return worker.Continue()
		}
		return h(ctx, ev)
	})
}

// session is a proxy that runs, seen from its client.
type session struct {
	t     testing.TB
	in    io.WriteCloser
	lines chan string
	notes *notes
	ended chan int
	stop  context.CancelFunc
}

// open starts a proxy before a server of this test program.
func open(t testing.TB, url, mode string, change ...func(*mcpproxy.Options, *agenthook.Options)) *session {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := &session{t: t, notes: new(notes), lines: make(chan string, 1000), ended: make(chan int, 1)}
	o := mcpproxy.Options{
		Name: "srv", Command: []string{self}, Env: append(os.Environ(), serverVariable+"="+mode), Notes: s.notes,
		Session: "s-" + t.Name(), Cwd: "/repo", Tell: 10 * time.Millisecond,
	}
	ask := agenthook.Options{Server: url, Timeout: 20 * time.Second, Patience: time.Millisecond, StateDir: filepath.Join(t.TempDir(), "state")}
	for _, c := range change {
		c(&o, &ask)
	}
	gate := agenthook.NewGate("mcp-proxy", ask, s.notes)
	p, err := mcpproxy.New(o, gate)
	if err != nil {
		t.Fatal(err)
	}
	in, w := io.Pipe()
	r, out := io.Pipe()
	s.in = w
	ctx, cancel := context.WithCancel(context.Background())
	s.stop = cancel
	go func() {
		defer out.Close()
		code, err := p.Run(ctx, in, out)
		if err != nil {
			t.Error(err)
		}
		gate.EndSession(ctx, p.Session())
		s.ended <- code
	}()
	go func() {
		defer close(s.lines)
		scanner := bufio.NewScanner(r)
		scanner.Buffer(nil, 80<<20)
		for scanner.Scan() {
			s.lines <- scanner.Text()
		}
	}()
	t.Cleanup(func() {
		cancel()
		_ = w.Close()
		for range s.lines { // until the proxy has ended
		}
	})
	return s
}

// send sends a line.
func (s *session) send(line string) {
	s.t.Helper()
	if _, err := io.WriteString(s.in, line+"\n"); err != nil {
		s.t.Fatal(err)
	}
}

// next is the next line that the client gets.
func (s *session) next() string {
	s.t.Helper()
	return testkit.Receive(s.t, "a message", s.lines)
}

// saw is the next line that the mirror tells it got.
func (s *session) saw() string {
	s.t.Helper()
	line := s.next()
	var m struct {
		Method string
		Params struct{ Line string }
	}
	if err := json.Unmarshal([]byte(line), &m); err != nil || m.Method != "notifications/saw" {
		s.t.Fatalf("%s; want what the server saw", line)
	}
	return m.Params.Line
}

// reply is a response.
type reply struct {
	ID     json.RawMessage
	Result *struct {
		Content    []struct{ Type, Text string }
		IsError    bool
		ResultType string
	}
	Error *struct {
		Code    int
		Message string
	}
	raw string
}

func (r reply) text() string {
	var all []string
	if r.Result != nil {
		for _, c := range r.Result.Content {
			all = append(all, c.Text)
		}
	}
	if r.Error != nil {
		all = append(all, r.Error.Message)
	}
	return strings.Join(all, "\n")
}

// answer is the next message, which is a response.
func (s *session) answer() reply {
	s.t.Helper()
	line := s.next()
	r := reply{raw: line}
	if err := json.Unmarshal([]byte(line), &r); err != nil || r.Result == nil && r.Error == nil {
		s.t.Fatalf("%s; want a response", line[:min(len(line), 500)])
	}
	return r
}

// refused is a response in whose place the model reads a reason.
func (s *session) refused(says string) {
	s.t.Helper()
	r := s.answer()
	if r.Error == nil && !r.Result.IsError || !strings.Contains(r.text(), says) {
		s.t.Errorf("%s; want a refusal that says %q", r.raw, says)
	}
}

// nothing sends a ping and gets its response: nothing came before it.
func (s *session) nothing() {
	s.t.Helper()
	const ping = `{"jsonrpc":"2.0","id":"nothing","method":"ping"}`
	s.send(ping)
	if got := s.saw(); got != ping {
		s.t.Errorf("the server saw %s", got)
	}
	if r := s.answer(); string(r.ID) != `"nothing"` {
		s.t.Errorf("%s; want the answer to the ping", r.raw)
	}
}

// call is a tools/call.
func call(id int, tool, input string) string {
	text, _ := json.Marshal(id)
	return `{"jsonrpc":"2.0","id":` + string(text) + `,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + input + `}}`
}

// notes is a buffer for concurrent use.
type notes struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (n *notes) Write(p []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.b.Write(p)
}

func (n *notes) String() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.b.String()
}
