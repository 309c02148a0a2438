package mcpproxy_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hookrouter/hookrouter/internal/agenthook"
	"github.com/hookrouter/hookrouter/internal/mcpproxy"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// at is a server over HTTP, in place of one on standard input.
func at(url string) func(*mcpproxy.Options, *agenthook.Options) {
	return func(o *mcpproxy.Options, _ *agenthook.Options) {
		o.Command, o.URL, o.Header = nil, url, http.Header{"Authorization": {"Bearer t"}}
	}
}

// handled is a server over HTTP, and what it was sent, method and body.
func handled(t *testing.T, h func(w http.ResponseWriter, r *http.Request, body string)) (url string, seen chan string) {
	t.Helper()
	seen = make(chan string, 100)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		seen <- r.Method + " " + string(body)
		h(w, r, string(body))
	}))
	t.Cleanup(s.Close)
	return s.URL, seen
}

// Clients of all revisions work with a server of the SDK over HTTP, whichever form its
// responses have.
func TestHTTPRevisions(t *testing.T) {
	t.Parallel()
	b := start(t)
	b.at("tool:pre", func(_ context.Context, ev worker.Event) (worker.Result, error) {
		if strings.Contains(string(ev.Data), "evil") {
			return worker.Deny("POLICY-NO")
		}
		return worker.Continue()
	})
	for _, asJSON := range []bool{false, true} {
		for _, revision := range []string{"2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"} {
			t.Run(fmt.Sprint(revision, " ", asJSON), func(t *testing.T) {
				options := &mcp.StreamableHTTPOptions{JSONResponse: asJSON, Stateless: revision >= "2026"}
				server := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return sdkServer() }, options))
				t.Cleanup(server.Close)
				s := open(t, b.url, "", at(server.URL))
				r, w := io.Pipe()
				go func() {
					for line := range s.lines {
						_, _ = io.WriteString(w, line+"\n")
					}
					_ = w.Close()
				}()
				client := mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, nil)
				session, err := client.Connect(t.Context(), &mcp.IOTransport{Reader: r, Writer: s.in}, &mcp.ClientSessionOptions{ProtocolVersion: revision})
				if err != nil {
					t.Fatal(err)
				}
				defer session.Close()
				if got := session.InitializeResult().ProtocolVersion; got != revision {
					t.Errorf("they speak %s", got)
				}
				if r := echo(t.Context(), t, session, "hi"); r.IsError || textOf(r) != "echo: hi" {
					t.Errorf("%+v", r)
				}
				if r := echo(t.Context(), t, session, "evil"); !r.IsError || textOf(r) != "POLICY-NO" {
					t.Errorf("%+v", r)
				}
			})
		}
	}
}

// The session, the revision and the headers of a user go with each request; a batch goes as
// single messages.
func TestHTTPHeaders(t *testing.T) {
	t.Parallel()
	headers := make(chan http.Header, 10)
	url, seen := handled(t, func(w http.ResponseWriter, r *http.Request, body string) {
		if r.Method != http.MethodPost {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		headers <- r.Header
		w.Header().Set("Content-Type", "application/json")
		if strings.Contains(body, "initialize") {
			w.Header().Set("Mcp-Session-Id", "S1")
			_, _ = io.WriteString(w, "{\"jsonrpc\":\"2.0\",\"id\":1,\n\"result\":{\"protocolVersion\":\"2025-06-18\"}}\n")
			return
		}
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":2,"result":{"content":[]}}`)
	})
	s := open(t, start(t).url, "", at(url))
	s.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`)
	if line := s.next(); !strings.Contains(line, `"id":1,"result"`) {
		t.Errorf("%s; want it on one line", line)
	}
	first := testkit.Receive(t, "a request", headers)
	if first.Get("Mcp-Session-Id") != "" || first.Get("Authorization") != "Bearer t" {
		t.Errorf("%v", first)
	}
	testkit.Receive(t, "initialize", seen)
	s.send(`[` + call(2, "x", `{}`) + `]`)
	s.next()
	if got := testkit.Receive(t, "a request", seen); got != "POST "+call(2, "x", `{}`) {
		t.Errorf("%s", got)
	}
	if h := testkit.Receive(t, "a request", headers); h.Get("Mcp-Session-Id") != "S1" || h.Get("Mcp-Protocol-Version") != "2025-06-18" || h.Get("Mcp-Method") != "" {
		t.Errorf("%v", h)
	}
	_ = s.in.Close()
	testkit.Receive(t, "the end", s.ended)
	if got := testkit.Receive(t, "the end of the session", seen); got != "DELETE " {
		t.Errorf("%s", got)
	}
}

// In the revision 2026-07-28 the headers are made of the message, as hooks changed it.
func TestHTTPMirroredHeaders(t *testing.T) {
	t.Parallel()
	headers := make(chan http.Header, 10)
	url, _ := handled(t, func(w http.ResponseWriter, r *http.Request, _ string) {
		headers <- r.Header
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{"content":[],"resultType":"complete"}}`)
	})
	s := open(t, start(t).url, "", at(url))
	s.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"é","arguments":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`)
	s.next()
	h := testkit.Receive(t, "a request", headers)
	if h.Get("Mcp-Method") != "tools/call" || h.Get("Mcp-Name") != "=?base64?w6k=?=" || h.Get("Mcp-Protocol-Version") != "2026-07-28" {
		t.Errorf("%v", h)
	}
}

// Hooks judge the uri of a read; a gateway must not see another name in its place.
func TestTheHeaderNamesTheResourceThatIsRead(t *testing.T) {
	t.Parallel()
	headers := make(chan http.Header, 10)
	url, _ := handled(t, func(w http.ResponseWriter, r *http.Request, _ string) {
		headers <- r.Header
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{"contents":[],"resultType":"complete"}}`)
	})
	s := open(t, start(t).url, "", at(url))
	s.send(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"name":"file:///public","uri":"file:///secret","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`)
	s.next()
	if h := testkit.Receive(t, "a request", headers); h.Get("Mcp-Name") != "file:///secret" {
		t.Errorf("%v", h)
	}
}

// A response on a stream that broke, or on that of another request, is judged as any other.
func TestHTTPStreams(t *testing.T) {
	t.Parallel()
	b := start(t)
	b.at("tool:post", func(context.Context, worker.Event) (worker.Result, error) { return worker.Deny("POST-NO") })
	secret := `{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"SECRET"}]}}`
	url, seen := handled(t, func(w http.ResponseWriter, r *http.Request, body string) {
		w.Header().Set("Content-Type", "text/event-stream")
		switch {
		case r.Method == http.MethodGet && r.Header.Get("Last-Event-ID") == "e1":
			_, _ = io.WriteString(w, "id: e2\r\ndata: "+secret+"\r\n\r\n")
		case r.Method == http.MethodGet:
			w.WriteHeader(http.StatusMethodNotAllowed)
		case strings.Contains(body, "tools/call"):
			_, _ = io.WriteString(w, ": hello\nid: e1\nretry: 1\ndata: {\"jsonrpc\":\"2.0\",\ndata: \"method\":\"notifications/x\"}\n\n")
		default:
			_, _ = io.WriteString(w, "data: {\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{}}\n\n")
		}
	})
	s := open(t, b.url, "", at(url))
	s.send(call(2, "x", `{}`))
	if line := s.next(); line != `{"jsonrpc":"2.0","method":"notifications/x"}` {
		t.Errorf("%s", line)
	}
	s.refused("POST-NO")
	testkit.Receive(t, "the call", seen)
	if got := testkit.Receive(t, "another request", seen); got != "GET " {
		t.Errorf("%s; want the stream resumed", got)
	}
}

// A server that misbehaves is an error that says why, and nothing is followed elsewhere.
func TestHTTPFailures(t *testing.T) {
	t.Parallel()
	b := start(t)
	var elsewhere atomic.Bool
	other, _ := handled(t, func(http.ResponseWriter, *http.Request, string) { elsewhere.Store(true) })
	for name, test := range map[string]struct {
		answer func(w http.ResponseWriter)
		says   string
	}{
		"redirect": {func(w http.ResponseWriter) {
			w.Header().Set("Location", other)
			w.WriteHeader(http.StatusTemporaryRedirect)
		}, "redirects to"},
		"refusal": {func(w http.ResponseWriter) { w.WriteHeader(http.StatusUnauthorized) }, "401"},
		"nothing": {func(http.ResponseWriter) {}, "without a response"},
		"a page": {func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, "<p>")
		}, "text/html"},
		"another id": {func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":9,"result":{}}`)
		}, "without a response"},
		"a broken stream": {func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "data: {")
		}, "stream ended"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, _ := handled(t, func(w http.ResponseWriter, _ *http.Request, _ string) { test.answer(w) })
			s := open(t, b.url, "", at(url))
			s.send(call(1, "x", `{}`))
			s.refused(test.says)
			s.send(`{"jsonrpc":"2.0","id":2,"method":"resources/list"}`)
			s.refused(test.says)
		})
	}
	t.Cleanup(func() {
		if elsewhere.Load() {
			t.Error("the redirect was followed")
		}
	})
	s := open(t, b.url, "", at("http://127.0.0.1:1/mcp"))
	s.send(call(1, "x", `{}`))
	s.refused("could not be asked")
}
