package server_test

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"go.uber.org/goleak"

	"github.com/hookrouter/hookrouter/internal/api/console"
	"github.com/hookrouter/hookrouter/internal/dispatch"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/server"
	"github.com/hookrouter/hookrouter/internal/server/embedded"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/webhook"
)

func TestMain(m *testing.M) {
	testkit.Parallel(8) // they wait for servers
	goleak.VerifyTestMain(m)
}

// run starts a server and waits until it is up. stop ends it and returns what Run did; the
// end of the test does so too.
func run(t *testing.T, o server.Options) (s *server.Server, stop func() error) {
	t.Helper()
	o.Router.Audit.Recorder.Timeout = cmp.Or(o.Router.Audit.Recorder.Timeout, 10*time.Second) // a busy machine refuses nothing
	s, err := server.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	up, done := make(chan struct{}), make(chan struct{})
	var failed error
	go func() {
		defer close(done)
		failed = s.Run(ctx, func() { close(up) })
	}()
	stop = func() error {
		cancel()
		testkit.Closed(t, "the end of the server", done)
		return failed
	}
	t.Cleanup(func() { _ = stop() })
	testkit.Closed(t, "the server to be up", up)
	return s, stop
}

// request makes a request over HTTP, on a connection of its own.
func request(t *testing.T, method, url, body string) (code int, text string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Close = true
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

// connect connects a client; the server may end before it.
func connect(t *testing.T, s natsx.InProcess) *nats.Conn {
	t.Helper()
	return natstest.Dial(t, "", nats.InProcessServer(s), nats.NoReconnect())
}

func TestServerIsReadyOnceItRuns(t *testing.T) {
	t.Parallel()
	s, stop := run(t, server.Options{StoreDir: natstest.StoreDir(t), HTTPListen: "127.0.0.1:0", NoConsole: true})
	if err := s.Ready(); err != nil {
		t.Errorf("it is not ready: %v", err)
	}
	base := "http://" + s.HTTPAddr()
	for page, want := range map[string]string{"/healthz": `{"status":"ok"}`, "/readyz": `{"status":"ok"}`, "/metrics": "# HELP "} {
		if code, body := request(t, "GET", base+page, ""); code != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("%s answers %d %.200s", page, code, body)
		}
	}
	if code, _ := request(t, "GET", base+"/", ""); code != http.StatusNotFound || s.ConsoleToken() != "" {
		t.Errorf("without a console / answers %d, and there is a token %q", code, s.ConsoleToken())
	}
	if s.ClientURL() != "" {
		t.Errorf("it listens on %s", s.ClientURL())
	}
	if err := stop(); err != nil {
		t.Errorf("the end: %v", err)
	}
	if err := s.Ready(); err == nil {
		t.Error("it is ready after the end")
	}
	if conn, err := net.Dial("tcp", s.HTTPAddr()); err == nil {
		_ = conn.Close()
		t.Error("HTTP is served after the end")
	}
}

func TestServerShowsTheConsole(t *testing.T) {
	t.Parallel()
	s, _ := run(t, server.Options{StoreDir: natstest.StoreDir(t), Listen: "127.0.0.1:0", HTTPListen: "127.0.0.1:0", ConsoleToken: strings.Repeat("secret", 6)})
	nc, err := nats.Connect(s.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	m, err := nc.Request("hooks.registry", nil, 20*time.Second)
	if err != nil || string(m.Data) != "[]" {
		t.Errorf("the registry is %v, %v", m, err)
	}
	if s.ConsoleToken() != strings.Repeat("secret", 6) {
		t.Errorf("the console's token is %q", s.ConsoleToken())
	}
	if code, _ := request(t, "GET", "http://"+s.HTTPAddr()+"/v1/approvals", ""); code != http.StatusUnauthorized {
		t.Errorf("the console answers %d to who has no token", code)
	}
}

// An event that was taken is answered before the server ends, and no other is taken. Meanwhile
// /readyz says so.
func TestServerDrains(t *testing.T) {
	t.Parallel()
	s, stop := run(t, server.Options{StoreDir: natstest.StoreDir(t), HTTPListen: "127.0.0.1:0", NoConsole: true})
	hook, agent := connect(t, s.InProcess()), connect(t, s.InProcess())
	calls := make(chan *nats.Msg, 1)
	if _, err := hook.ChanQueueSubscribe("hooks.call.slow", "slow", calls); err != nil {
		t.Fatal(err)
	}
	if m, err := hook.Request("hooks.register.slow", []byte(`{"events":["tool:pre"],"timeout_ms":20000}`), 20*time.Second); err != nil || len(m.Header) > 0 {
		t.Fatalf("register: %+v, %v", m, err)
	}
	answers, err := agent.SubscribeSync(agent.NewInbox())
	if err != nil {
		t.Fatal(err)
	}
	event := &nats.Msg{Subject: "hooks.execute.tool.pre", Reply: answers.Subject, Data: []byte(`{}`), Header: nats.Header{
		"ce-specversion": {"1.0"}, "ce-id": {"e1"}, "ce-source": {"/coder"}, "ce-type": {"tool:pre"}, "ce-subject": {"s1"},
	}}
	if err := agent.PublishMsg(event); err != nil {
		t.Fatal(err)
	}
	call := testkit.Receive(t, "the call of the hook", calls)
	ended := make(chan error, 1)
	go func() { ended <- stop() }()
	testkit.Eventually(t, "no router takes a request", func() bool {
		_, err := agent.Request("hooks.registry", nil, time.Second)
		return err != nil
	})
	select {
	case err := <-ended:
		t.Fatalf("it ended while an event waited for its answer: %v", err)
	default:
	}
	if code, body := request(t, "GET", "http://"+s.HTTPAddr()+"/readyz", ""); code != http.StatusServiceUnavailable || !strings.Contains(body, "stopping") {
		t.Errorf("/readyz answers %d %s while it drains", code, body)
	}
	if err := call.Respond([]byte(`{"action":"deny","reason":"no"}`)); err != nil {
		t.Fatal(err)
	}
	m, err := answers.NextMsg(20 * time.Second)
	if err != nil || !strings.Contains(string(m.Data), `"action":"deny"`) {
		t.Errorf("the event is answered with %v, %v", m, err)
	}
	if err := testkit.Receive(t, "the end of the server", ended); err != nil {
		t.Errorf("the end: %v", err)
	}
	testkit.Eventually(t, "NATS is served no more", func() bool { return !hook.IsConnected() }) // the client hears of it a moment later
}

// A server that joins another one ends without it.
func TestServerJoinsANATSServer(t *testing.T) {
	t.Parallel()
	other := natstest.Listening(t)
	s, stop := run(t, server.Options{NATS: natsx.Options{URL: other.ClientURL()}})
	if s.InProcess() != nil || s.ClientURL() != "" || s.HTTPAddr() != "" {
		t.Errorf("it started a server of its own: %v %q %q", s.InProcess(), s.ClientURL(), s.HTTPAddr())
	}
	nc := natstest.Conn(t, other)
	if _, err := nc.Request("hooks.registry", nil, 20*time.Second); err != nil {
		t.Errorf("the registry: %v", err)
	}
	if err := stop(); err != nil {
		t.Errorf("the end: %v", err)
	}
	if !other.Running() {
		t.Error("the server that it joined has ended")
	}
}

// A start that fails says what to change, and leaves nothing behind: the same directory
// serves the next one.
func TestStartRefusesBadOptions(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	taken, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, test := range []struct {
		options server.Options
		says    string
	}{
		{server.Options{}, "needs a store directory"},
		{server.Options{StoreDir: dir, Listen: "nowhere"}, `address "nowhere" is not host:port`},
		{server.Options{StoreDir: dir, HTTPListen: taken.Addr().String()}, "choose another address with --http-listen"},
		{server.Options{StoreDir: dir, NATS: natsx.Options{Prefix: "a b"}}, `"a b"`},
		{server.Options{StoreDir: dir, Webhook: webhook.Options{URLs: []string{"http://127.0.0.1:1/"}}}, "webhook secret"},
		{server.Options{StoreDir: dir, Router: router.Options{Dispatch: dispatch.Options{MaxData: 2 * embedded.MaxPayload}}}, "set --max-data to at most"},
		{server.Options{NATS: natsx.Options{URL: "nats://127.0.0.1:1"}}, "connect to NATS at nats://127.0.0.1:1"},
	} {
		s, err := server.Start(t.Context(), test.options)
		if err == nil {
			t.Errorf("%q: it started: %v", test.says, s)
			continue
		}
		if !strings.Contains(err.Error(), test.says) {
			t.Errorf("error is %q, want in it %q", err, test.says)
		}
	}
	run(t, server.Options{StoreDir: dir})
}

// A page that a browser opened can give a loopback address a name of its own.
func TestPagesWithoutATokenHaveNoForeignName(t *testing.T) {
	t.Parallel()
	s, _ := run(t, server.Options{StoreDir: natstest.StoreDir(t), HTTPListen: "127.0.0.1:0", Console: console.Options{Hosts: []string{"hooks.example"}}})
	for _, page := range []string{"/healthz", "/readyz", "/metrics"} {
		for host, want := range map[string]int{"evil.example": http.StatusMisdirectedRequest, "hooks.example": http.StatusOK, "localhost:1": http.StatusOK} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.HTTPAddr()+page, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			r.Close, r.Host = true, host
			resp, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			if _ = resp.Body.Close(); resp.StatusCode != want {
				t.Errorf("%s as %s: %s, want %d", page, host, resp.Status, want)
			}
		}
	}
}

func TestTheLogLevelTakesARight(t *testing.T) {
	t.Parallel()
	ann, bob := strings.Repeat("a", 30), strings.Repeat("b", 30)
	level := new(slog.LevelVar)
	s, _ := run(t, server.Options{StoreDir: natstest.StoreDir(t), HTTPListen: "127.0.0.1:0", Level: level, ConsoleToken: "ann:" + ann + ",bob:" + bob, Console: console.Options{MayFreeze: []string{"ann"}}})
	at := "http://" + s.HTTPAddr() + "/loglevel"
	for _, c := range []struct {
		token string
		code  int
		want  slog.Level
	}{{bob, http.StatusForbidden, slog.LevelInfo}, {ann, http.StatusOK, slog.LevelDebug}} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, at, strings.NewReader("debug"))
		if err != nil {
			t.Fatal(err)
		}
		r.Close = true
		r.Header.Set("Authorization", "Bearer "+c.token)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if _ = resp.Body.Close(); resp.StatusCode != c.code || level.Level() != c.want {
			t.Errorf("%s; the level is %s, want %s", resp.Status, level.Level(), c.want)
		}
	}
	if code, body := withToken(t, at, bob); code != http.StatusOK || body != "debug\n" {
		t.Errorf("reading it: %d %q", code, body)
	}
}

// The level of the log is the console's: without it there is only the signal.
func TestLogLevelIsTheConsoles(t *testing.T) {
	t.Parallel()
	s, _ := run(t, server.Options{StoreDir: natstest.StoreDir(t), HTTPListen: "127.0.0.1:0", NoConsole: true, Level: new(slog.LevelVar)})
	if code, body := request(t, "PUT", "http://"+s.HTTPAddr()+"/loglevel", "debug"); code != http.StatusNotFound {
		t.Errorf("%d %q", code, body)
	}
}
