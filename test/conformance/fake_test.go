package conformance

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
)

// fakeRouter answers just enough of the protocol to test the runner: it calls
// every registered hook, whatever its event, in the order of registration, and
// returns the last answer that was one. It decides nothing.
type fakeRouter struct {
	t      *testing.T
	conn   *nats.Conn
	prefix string

	// Scripted replies; nil where the test needs none.
	execute func(*nats.Msg) any
	approve func(id string, answer map[string]any)

	mu       sync.Mutex
	hooks    []fakeHook
	pending  []any                // the reply to approvals
	requests []string             // every subject asked for, without the prefix
	late     []*nats.Subscription // the inboxes of calls that got no answer in time
	headers  []nats.Header        // of every event
	bodies   []string             // of every event
}

type fakeHook struct {
	id      string
	timeout time.Duration
}

// startFake returns a fake router and a target on a connection of its own.
func startFake(t *testing.T) (*fakeRouter, Target) {
	t.Helper()
	srv, err := server.NewServer(&server.Options{DontListen: true, NoSigs: true, NoLog: true})
	if err != nil {
		t.Fatal(err)
	}
	srv.Start()
	t.Cleanup(func() { srv.Shutdown(); srv.WaitForShutdown() })
	if !srv.ReadyForConnections(10 * time.Second) {
		t.Fatal("the NATS server is not ready")
	}
	connect := func() *nats.Conn {
		conn := natstest.Dial(t, "", nats.InProcessServer(srv))
		return conn
	}
	f := &fakeRouter{t: t, conn: connect(), prefix: "fake"}
	if _, err := f.conn.Subscribe("fake.>", func(msg *nats.Msg) {
		if verb, name, _ := strings.Cut(strings.TrimPrefix(msg.Subject, "fake."), "."); verb != "call" && verb != "event" {
			go f.serve(msg, verb, name)
		}
	}); err != nil {
		t.Fatal(err)
	}
	if err := f.conn.Flush(); err != nil {
		t.Fatal(err)
	}
	return f, Target{Conn: connect(), Prefix: f.prefix}
}

func (f *fakeRouter) serve(msg *nats.Msg, verb, name string) {
	f.mu.Lock()
	f.requests = append(f.requests, strings.TrimSuffix(verb+"."+name, "."))
	f.mu.Unlock()
	var reply any = map[string]any{}
	switch verb {
	case "register":
		reply = f.register(msg, name)
	case "unregister":
		f.mu.Lock()
		f.hooks = slices.DeleteFunc(f.hooks, func(h fakeHook) bool { return h.id == name })
		f.mu.Unlock()
	case "emit":
		reply = f.emit(msg)
	case "collect", "contributions":
		reply = []any{f.emit(msg)}
	case "execute":
		f.log(msg)
		reply = f.execute(msg)
	case "approvals":
		f.mu.Lock()
		reply = slices.Clone(f.pending)
		f.mu.Unlock()
	case "approve":
		var answer map[string]any
		if err := json.Unmarshal(msg.Data, &answer); err != nil {
			f.t.Errorf("approve: %v", err)
		}
		reply = map[string]any{"status": "accepted"}
		f.approve(name, answer)
	}
	f.send(&nats.Msg{Subject: msg.Reply, Data: encode(reply)})
}

func (f *fakeRouter) register(msg *nats.Msg, id string) any {
	var registration struct {
		TimeoutMS int `json:"timeout_ms"`
	}
	if err := json.Unmarshal(msg.Data, &registration); err != nil {
		f.t.Errorf("register: %v", err)
	}
	h := fakeHook{id: id, timeout: time.Duration(registration.TimeoutMS) * time.Millisecond}
	if h.timeout == 0 {
		h.timeout = 10 * time.Second
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !slices.ContainsFunc(f.hooks, func(o fakeHook) bool { return o.id == id }) {
		f.hooks = append(f.hooks, h)
	}
	return map[string]any{"id": id, "call_subject": f.prefix + ".call." + id, "ttl_ms": 1}
}

func (f *fakeRouter) log(msg *nats.Msg) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.headers = append(f.headers, msg.Header)
	f.bodies = append(f.bodies, string(msg.Data))
}

// emit calls the hooks one after the other.
func (f *fakeRouter) emit(msg *nats.Msg) any {
	f.log(msg)
	f.mu.Lock()
	hooks := slices.Clone(f.hooks)
	f.mu.Unlock()
	var result any = map[string]any{"action": "continue"}
	for _, h := range hooks {
		inbox := f.conn.NewInbox()
		sub, err := f.conn.SubscribeSync(inbox)
		if err != nil {
			f.t.Errorf("subscribe: %v", err)
			return nil
		}
		f.send(&nats.Msg{
			Subject: f.prefix + ".call." + h.id, Reply: inbox, Data: msg.Data,
			Header: nats.Header{"Ce-Type": {"tool:pre"}, headerMode: {"enforce"}},
		})
		answer, err := sub.NextMsg(h.timeout)
		if err != nil {
			f.mu.Lock()
			f.late = append(f.late, sub)
			f.mu.Unlock()
			continue
		}
		if v, err := decode(answer.Data); err == nil && v != nil {
			result = v
		}
	}
	return result
}

func (f *fakeRouter) send(msg *nats.Msg) {
	if err := f.conn.PublishMsg(msg); err != nil {
		f.t.Errorf("publish on %s: %v", msg.Subject, err)
	}
}

// asked counts the requests on one subject.
func (f *fakeRouter) asked(subject string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for _, s := range f.requests {
		if s == subject {
			n++
		}
	}
	return n
}
