package httpapi_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	httpapi "github.com/hookrouter/hookrouter/internal/api/http"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// raw opens a connection and sends text.
func (b *bus) raw(text string) *net.TCPConn {
	b.Helper()
	c, err := (&net.Dialer{}).DialContext(b.Context(), "tcp", strings.TrimPrefix(b.url, "http://"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = c.Close() })
	if _, err := io.WriteString(c, text); err != nil {
		b.Fatal(err)
	}
	return c.(*net.TCPConn)
}

// head is the header of a request with a body of so many bytes.
func (b *bus) head(length string) string {
	return "POST " + tool + " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + b.token + "\r\nContent-Type: application/json\r\nContent-Length: " + length + "\r\n\r\n"
}

// A body that ends before its length is no event, even where it is JSON.
func TestATruncatedBody(t *testing.T) {
	t.Parallel()
	b := start(t, router.Options{})
	b.hook(worker.Registration{ID: "watch", Events: []string{"*"}}, func(context.Context, worker.Event) (worker.Result, error) {
		t.Error("a hook was called")
		return worker.Continue()
	})
	c := b.raw(b.head("10") + "{}")
	if err := c.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusBadRequest {
		t.Errorf("status %d", resp.StatusCode)
	}
}

// A client that is too slow with its body is told so, and takes nobody's place.
func TestASlowClient(t *testing.T) {
	t.Parallel()
	b := known(t)
	r, stop := routertest.Start(t, natstest.Server(t), router.Options{MaxInFlight: 2})
	t.Cleanup(stop)
	s := httptest.NewServer(httpapi.New(httpapi.Options{Agents: r.Agents(), Identities: b.identities(), BodyTimeout: 500 * time.Millisecond}).Handler())
	t.Cleanup(s.Close)
	b.url = s.URL
	slow := map[*net.TCPConn]int{
		b.raw(b.head("2") + "{"): http.StatusRequestTimeout,
		b.raw(b.head("3") + "{"): http.StatusRequestTimeout,
		b.raw(strings.Replace(b.head("2"), "POST "+tool, "GET /v1/pending/none", 1) + "{"): http.StatusNotFound, // nobody reads the body
	}
	if got := b.post(tool, `{}`); got.code != http.StatusOK {
		t.Errorf("beside the slow ones: %+v", got)
	}
	for c, want := range slow {
		if err := c.SetReadDeadline(time.Now().Add(testkit.Patience)); err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("status %d, want %d", resp.StatusCode, want)
		}
	}
}

// A chain runs to its end where its client goes away, as it does over NATS: hooks behind
// the one that was being called are called too.
func TestAClientThatGoesAway(t *testing.T) {
	t.Parallel()
	b := known(t)
	nats := natstest.Server(t)
	r, _ := routertest.Start(t, nats, router.Options{})
	w := natstest.Worker(t, natstest.Client(t, hookrouter.Options{Conn: natstest.Conn(t, nats)}), worker.Options{})
	b.worker = w
	noticed := make(chan struct{})
	api := httpapi.New(httpapi.Options{Agents: r.Agents(), Identities: b.identities()}).Handler()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		context.AfterFunc(r.Context(), func() { close(noticed) })
		api.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	b.url = s.URL
	called, second := make(chan struct{}), make(chan struct{})
	b.hook(worker.Registration{ID: "first", Events: []string{"tool:pre"}}, func(context.Context, worker.Event) (worker.Result, error) {
		close(called)
		<-noticed
		return worker.Continue()
	})
	b.hook(worker.Registration{ID: "second", Events: []string{"tool:pre"}, Priority: 1}, func(context.Context, worker.Event) (worker.Result, error) {
		close(second)
		return worker.Continue()
	})
	c := b.raw(b.head("2") + "{}")
	testkit.Closed(t, "a call", called)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	testkit.Closed(t, "the second call", second)
}

// A router that stops answers what it took: those that wait for a person learn that it is
// pending, and new requests are sent away.
func TestDraining(t *testing.T) {
	t.Parallel()
	b := start(t, router.Options{})
	b.asks()
	called, release := make(chan struct{}), make(chan struct{})
	b.hook(worker.Registration{ID: "slow", Events: []string{"tool:post"}}, func(context.Context, worker.Event) (worker.Result, error) {
		close(called)
		<-release
		return worker.Deny("no")
	})
	waiting, taken := make(chan reply, 1), make(chan reply, 1)
	go func() { waiting <- b.post(tool, `{}`) }()
	b.asked()
	go func() { taken <- b.post("/v1/execute/tool:post", `{}`) }()
	testkit.Closed(t, "a call", called)
	stopped := make(chan struct{})
	go func() { defer close(stopped); b.stop() }()
	var refused reply
	testkit.Eventually(t, "new requests are refused", func() bool {
		refused = b.post("/v1/execute/custom:nobody", `{}`)
		return refused.code != http.StatusOK
	})
	close(release)
	if refused.code != http.StatusServiceUnavailable || refused.header.Get("Retry-After") == "" {
		t.Errorf("a new request: %+v", refused)
	}
	if got := testkit.Receive(t, "the answer to what was taken", taken); !strings.Contains(got.body, `"action":"deny"`) {
		t.Errorf("taken: %+v", got)
	}
	if got := testkit.Receive(t, "the answer to what waits", waiting); got.code != http.StatusAccepted || !strings.HasPrefix(got.body, `{"action":"pending"`) {
		t.Errorf("waiting: %+v", got)
	}
	testkit.Closed(t, "the end", stopped)
}

// Requests of all endpoints share one limit.
func TestInFlight(t *testing.T) {
	t.Parallel()
	b := start(t, router.Options{MaxInFlight: 1})
	called, release := make(chan struct{}), make(chan struct{})
	b.hook(worker.Registration{ID: "slow", Events: []string{"tool:pre"}}, func(context.Context, worker.Event) (worker.Result, error) {
		close(called)
		<-release
		return worker.Continue()
	})
	first := make(chan reply, 1)
	go func() { first <- b.post(tool, `{}`) }()
	testkit.Closed(t, "a call", called)
	if got := b.post(tool, `{}`); got.code != http.StatusTooManyRequests || got.header.Get("Retry-After") != "1" {
		t.Errorf("a second: %+v", got)
	}
	m, err := b.client("agent").Conn().Request("hooks.emit.tool.pre", []byte(`{}`), testkit.Patience)
	if err != nil || m.Header.Get("Nats-Service-Error-Code") != "429" {
		t.Errorf("over NATS: %v, %v", m, err)
	}
	close(release)
	if got := testkit.Receive(t, "the first", first); got.code != http.StatusOK {
		t.Errorf("the first: %+v", got)
	}
}
