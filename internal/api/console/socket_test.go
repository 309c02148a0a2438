package console_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/internal/api/console"
	"github.com/hookrouter/hookrouter/pkg/approval"
)

// source is where live events come from.
type source struct {
	mu     sync.Mutex
	handle func(console.Event)
	opened int
	gone   chan struct{} // gets an element when nobody reads any more
	fails  error
}

func newSource() *source { return &source{gone: make(chan struct{}, 16)} }

func (s *source) subscribe(handle func(console.Event)) (stop func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fails != nil {
		return nil, s.fails
	}
	s.handle = handle
	s.opened++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.handle = nil
		s.gone <- struct{}{}
	}, nil
}

func (s *source) publish(ev console.Event) {
	s.mu.Lock()
	handle := s.handle
	s.mu.Unlock()
	if handle != nil {
		handle(ev)
	}
}

func serve(t *testing.T, c *console.Console) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(c.Handler())
	t.Cleanup(server.Close)
	return server
}

func dial(t *testing.T, server *httptest.Server) *websocket.Conn {
	t.Helper()
	conn, r, err := websocket.Dial(t.Context(), server.URL+"/v1/events", &websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {right}}}) //nolint:bodyclose // Dial has read it
	if err != nil {
		t.Fatal(r, err)
	}
	conn.SetReadLimit(-1)
	t.Cleanup(func() { _ = conn.CloseNow() })
	return conn
}

type message struct {
	Type, ID, Kind, Name, Action, Time string
	Approvals                          []struct{ ID string }
	Total, Count                       int
	DataBytes                          int `json:"data_bytes"`
	Decision                           struct {
		Option    string
		DecidedBy string `json:"decided_by"`
	}
	Data, Hooks json.RawMessage
}

func receive(t *testing.T, conn *websocket.Conn) (m message) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	_, text, err := conn.Read(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return m
}

// until reads on until a message is as wanted.
func until(t *testing.T, conn *websocket.Conn, wanted func(message) bool) message {
	t.Helper()
	for {
		if m := receive(t, conn); wanted(m) {
			return m
		}
	}
}

// A list must fit into a message. The service chooses what fits, and so some of every agent.
func TestAListIsAskedForWithItsBounds(t *testing.T) {
	svc := newMemory()
	receive(t, dial(t, serve(t, open(t, console.Options{Approvals: svc}))))
	svc.mu.Lock()
	defer svc.mu.Unlock()
	if want := (approval.Filter{Limit: 200, Room: 1 << 20}); svc.filter != want {
		t.Errorf("asked for %+v, want %+v", svc.filter, want)
	}
}

func TestASocketTellsOfApprovals(t *testing.T) {
	svc := newMemory()
	svc.ask(question("a"))
	server := serve(t, open(t, console.Options{Approvals: svc}))
	conn := dial(t, server)
	if m := receive(t, conn); m.Type != "approvals" || m.Total != 1 || len(m.Approvals) != 1 || m.Approvals[0].ID != "a" {
		t.Fatalf("at first: %+v", m)
	}
	svc.ask(question("b"))
	until(t, conn, func(m message) bool { return m.Type == "approvals" && m.Total == 2 })
	svc.decide("a")
	if m := receive(t, conn); m.Type != "decided" || m.ID != "a" || m.Decision.Option != "Deny" || m.Decision.DecidedBy != "alice" {
		t.Errorf("then: %+v", m)
	}
	until(t, conn, func(m message) bool { return m.Type == "approvals" && m.Total == 1 && m.Approvals[0].ID == "b" })
	if other := receive(t, dial(t, server)); other.Total != 1 {
		t.Errorf("another socket begins with %+v", other)
	}
}

func TestManyChangesMakeFewLists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := newMemory()
		c := open(t, console.Options{Approvals: svc})
		const mine = "/v1/approvals?session_id=s1&wait=1s&after="
		cursor := decode[listed](t, ask(c, http.MethodGet, mine, "")).Cursor
		done := make(chan struct{})
		go func() { ask(c, http.MethodGet, mine+cursor, ""); close(done) }()
		for range 100 {
			time.Sleep(5 * time.Millisecond) //nolint:forbidigo // on the fake clock
			svc.ask(elsewhere())
		}
		<-done
		if n := svc.listed(); n < 5 || n > 20 {
			t.Errorf("100 approval requests in 500 ms made %d lists", n)
		}
	})
}

func TestASocketTellsOfEvents(t *testing.T) {
	events := newSource()
	conn := dial(t, serve(t, open(t, console.Options{Approvals: newMemory(), Events: events.subscribe})))
	receive(t, conn)
	at := time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC)
	events.publish(console.Event{Kind: console.KindEvent, Name: "tool:pre", Session: "s1", Time: at, Data: []byte(`{"n":90071992547409931}`)})
	events.publish(console.Event{Kind: console.KindEvent, Name: "broken", Data: []byte(`{"n":`)})
	events.publish(console.Event{Kind: console.KindResult, Name: "tool:pre", Action: "deny", Time: at, Hooks: []byte(`[{"id":"a","action":"deny","us":4}]`)})
	events.publish(console.Event{Kind: console.KindEvent, Name: "large", Time: at, Data: []byte(`{"x":"` + long(20000) + `"}`)})
	got := []message{receive(t, conn), receive(t, conn), receive(t, conn)}
	const time = "2026-01-02T03:04:05.006Z"
	want := []message{
		{Type: "event", Kind: "event", Name: "tool:pre", Time: time, Data: []byte(`{"n":90071992547409931}`), DataBytes: 23},
		{Type: "event", Kind: "result", Name: "tool:pre", Time: time, Action: "deny", Hooks: []byte(`[{"id":"a","action":"deny","us":4}]`)},
		{Type: "event", Kind: "event", Name: "large", Time: time, DataBytes: 20008},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestEventsAreReadOnlyWhileSomebodyLooks(t *testing.T) {
	events := newSource()
	handler := open(t, console.Options{Approvals: newMemory(), Events: events.subscribe}).Handler()
	left := make(chan struct{}, 3)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler.ServeHTTP(w, r)
		left <- struct{}{}
	}))
	defer server.Close()
	a, b := dial(t, server), dial(t, server)
	receive(t, a)
	receive(t, b)
	_ = a.CloseNow()
	<-left
	events.publish(console.Event{Kind: console.KindEvent, Name: "tool:pre"})
	until(t, b, func(m message) bool { return m.Name == "tool:pre" })
	_ = b.CloseNow()
	<-left
	<-events.gone
	receive(t, dial(t, server))
	if events.opened != 2 {
		t.Errorf("it began %d times", events.opened)
	}
}

func TestApprovalsAreShownWithoutEvents(t *testing.T) {
	events := newSource()
	events.fails = errors.New("no permission")
	conn := dial(t, serve(t, open(t, console.Options{Approvals: newMemory(), Events: events.subscribe})))
	if m := receive(t, conn); m.Type != "approvals" {
		t.Errorf("got %+v", m)
	}
}

func TestASlowReaderLosesEventsAndNeverApprovals(t *testing.T) {
	svc, events := newMemory(), newSource()
	server := httptest.NewUnstartedServer(open(t, console.Options{Approvals: svc, Events: events.subscribe}).Handler())
	server.Config.ConnContext = func(ctx context.Context, conn net.Conn) context.Context {
		_ = conn.(*net.TCPConn).SetWriteBuffer(4 << 10)
		return ctx
	}
	server.Start()
	defer server.Close()
	conn := dial(t, server)
	receive(t, conn)
	data := []byte(`{"x":"` + long(12000) + `"}`)
	const sent = 1500 // 18 MB: no buffer of a socket takes that
	for range sent {
		events.publish(console.Event{Kind: console.KindEvent, Name: "tool:pre", Data: data})
	}
	svc.ask(question("urgent"))
	events.publish(console.Event{Kind: console.KindEvent, Name: "last"})
	seen, lost, asked := 0, 0, false
	until(t, conn, func(m message) bool {
		switch m.Type {
		case "event":
			seen++
		case "lost":
			lost += m.Count
		case "approvals":
			asked = m.Total == 1
		}
		return m.Name == "last"
	})
	if lost == 0 || seen+lost != sent+1 {
		t.Errorf("%d seen and %d lost of %d", seen, lost, sent+1)
	}
	if !asked {
		until(t, conn, func(m message) bool { return m.Total == 1 })
	}
}

func TestSocketsAreLimited(t *testing.T) {
	server := serve(t, open(t, console.Options{Approvals: newMemory()}))
	var last *websocket.Conn
	for range 64 {
		last = dial(t, server)
	}
	refused := func() int {
		conn, r, err := websocket.Dial(t.Context(), server.URL+"/v1/events", &websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {right}}}) //nolint:bodyclose // Dial has read it
		if err == nil {
			_ = conn.CloseNow()
			return 0
		}
		return r.StatusCode
	}
	if code := refused(); code != http.StatusServiceUnavailable {
		t.Errorf("the 65th gets %d", code)
	}
	_ = last.CloseNow()
	for refused() != 0 { // until the server has seen that it is gone
	}
}

func TestASocketOfAnotherPageIsRefused(t *testing.T) {
	c := open(t, console.Options{Approvals: newMemory()})
	server := serve(t, c)
	offered := []string{"hookrouter.v1", "hookrouter.bearer." + session(t, c, token)}
	for origin, want := range map[string]int{
		server.URL: 101, "http://evil.example": 403, "null": 403, "": 101,
		strings.Replace(server.URL, "127.0.0.1", "localhost", 1): 403,
	} {
		header := http.Header{}
		if origin != "" {
			header.Set("Origin", origin)
		}
		conn, r, err := websocket.Dial(t.Context(), server.URL+"/v1/events", &websocket.DialOptions{HTTPHeader: header, Subprotocols: offered}) //nolint:bodyclose // Dial has read it
		if err == nil {
			if conn.Subprotocol() != "hookrouter.v1" {
				t.Errorf("it speaks %q", conn.Subprotocol())
			}
			_ = conn.CloseNow()
		}
		if r == nil || r.StatusCode != want {
			t.Errorf("Origin %q: %v, %v; want %d", origin, r, err, want)
		}
	}
}

// pipes serves a console without sockets, which have no place in a bubble of virtual time.
func pipes(t *testing.T, c *console.Console) (client *http.Client) {
	t.Helper()
	l := &pipeListener{make(chan net.Conn), make(chan struct{})}
	server := &http.Server{Handler: c.Handler(), ReadHeaderTimeout: time.Minute}
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(l) }) // until it is closed
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		here, there := net.Pipe()
		select {
		case l.conns <- there:
			return here, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		_ = server.Close()
		serving.Wait()
	})
	return &http.Client{Transport: transport}
}

type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

func (l *pipeListener) Close() error {
	close(l.closed)
	return nil
}

func TestCloseEndsSockets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		events := newSource()
		c := open(t, console.Options{Approvals: newMemory(), Events: events.subscribe})
		client := pipes(t, c)
		socket := func() *websocket.Conn {
			conn, _, err := websocket.Dial(t.Context(), "http://127.0.0.1/v1/events", &websocket.DialOptions{HTTPClient: client, HTTPHeader: http.Header{"Authorization": {right}}}) //nolint:bodyclose // Dial has read it
			if err != nil {
				t.Fatal(err)
			}
			conn.SetReadLimit(-1)
			t.Cleanup(func() { _ = conn.CloseNow() })
			return conn
		}
		polite, mute := socket(), socket()
		receive(t, polite)
		receive(t, mute)
		for range 300 { // so that the writer of the mute one is stuck
			events.publish(console.Event{Kind: console.KindEvent, Name: "tool:pre", Data: []byte(`{"x":"` + long(12000) + `"}`)})
		}
		synctest.Wait()
		closed := make(chan struct{})
		began := time.Now()
		go func() { c.Close(); close(closed) }()
		for {
			if _, _, err := polite.Read(t.Context()); err != nil {
				break
			}
		}
		<-closed
		if took := time.Since(began); took > 3*time.Second {
			t.Errorf("it took %v", took)
		}
		<-events.gone
		if code := ask(c, http.MethodGet, "/v1/events", "").Code; code != http.StatusServiceUnavailable {
			t.Errorf("afterwards a socket gets %d", code)
		}
		c.Close()
	})
}

func TestCloseSaysGoodbye(t *testing.T) {
	c := open(t, console.Options{Approvals: newMemory()})
	conn := dial(t, serve(t, c))
	receive(t, conn)
	go c.Close()
	_, _, err := conn.Read(t.Context())
	if websocket.CloseStatus(err) != websocket.StatusGoingAway {
		t.Errorf("the socket ended with %v", err)
	}
}

func TestASocketEndsWithItsSession(t *testing.T) {
	key := []byte("0123456789abcdef0123456789abcdef")
	text := strconv.FormatInt(time.Now().Add(2*time.Second).Unix(), 10) + "." + base64.RawURLEncoding.EncodeToString([]byte(console.Who))
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	short := text + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
	c := console.New(console.Options{Approvals: newMemory(), SessionKey: key})
	t.Cleanup(c.Close)
	conn, r, err := websocket.Dial(t.Context(), serve(t, c).URL+"/v1/events", //nolint:bodyclose // Dial has read it
		&websocket.DialOptions{Subprotocols: []string{"hookrouter.v1", "hookrouter.bearer." + short}})
	if err != nil {
		t.Fatal(r, err)
	}
	t.Cleanup(func() { _ = conn.CloseNow() })
	receive(t, conn)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if _, _, err := conn.Read(ctx); websocket.CloseStatus(err) != websocket.StatusPolicyViolation {
		t.Errorf("after the session: %v", err)
	}
}
