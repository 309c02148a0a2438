package httpapi_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	httpapi "github.com/hookrouter/hookrouter/internal/api/http"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
)

// limited serves at most so many connections at once.
func limited(t *testing.T, most int) *bus {
	t.Helper()
	b := known(t)
	r, stop := routertest.Start(t, natstest.Server(t), router.Options{})
	t.Cleanup(stop)
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := httpapi.New(httpapi.Options{Agents: r.Agents(), Identities: b.identities(), MaxConnections: most, BodyTimeout: time.Hour}).HTTP()
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() { _ = s.Close() })
	b.url = "http://" + l.Addr().String()
	return b
}

// Requests of an agent that were refused, whose bodies never come, keep nobody out.
func TestConnectionLimitKeepsNoPlaceForRefusedRequests(t *testing.T) {
	t.Parallel()
	b := limited(t, 4)
	for range 8 {
		b.raw(strings.Replace(b.head("2"), "tool:pre", "no..event", 1))
	}
	testkit.Eventually(t, "a request is answered behind refused ones", func() bool {
		r := b.request(http.MethodPost, tool, `{}`)
		r.Close = true
		resp, err := http.DefaultClient.Do(r)
		if err != nil { // the others were just read
			return false
		}
		_ = resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
}

// once is a request on a connection of its own: one that is kept may be ended.
func (b *bus) once() reply {
	b.Helper()
	r := b.request(http.MethodPost, tool, `{}`)
	r.Close = true
	return b.do(r)
}

// Connections that strangers hold open, and those of an agent that are idle, keep no agent
// out.
func TestConnectionLimitKeepsNoAgentOut(t *testing.T) {
	t.Parallel()
	b := limited(t, 4)
	for _, text := range []string{"", "POST /v1/", "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", b.head("2") + "{}"} {
		for range 8 {
			if c := b.raw(text); strings.Contains(text, "Bearer") {
				resp, err := http.ReadResponse(bufio.NewReader(c), nil) // then it is idle
				if err != nil {
					t.Fatal(err)
				}
				_ = resp.Body.Close()
			}
		}
		if got := b.once(); got.code != http.StatusOK {
			t.Errorf("behind connections that send %q: %+v", text, got)
		}
	}
}

// A request with a token is answered, however many come after it.
func TestConnectionLimitEndsNoRequest(t *testing.T) {
	t.Parallel()
	b := limited(t, 4)
	c := b.raw(strings.Replace(b.head("2"), "\r\n\r\n", "\r\nExpect: 100-continue\r\n\r\n", 1))
	in := bufio.NewReader(c)
	if line, err := in.ReadString('\n'); err != nil || !strings.Contains(line, "100 Continue") { // the token was looked at
		t.Fatalf("%q, %v", line, err)
	}
	if _, err := in.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	for range 8 {
		b.raw("")
	}
	if got := b.once(); got.code != http.StatusOK {
		t.Errorf("beside it: %+v", got)
	}
	if _, err := io.WriteString(c, "{}"); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(in, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("status %d", resp.StatusCode)
	}
}
