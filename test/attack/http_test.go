package attack

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/dispatch"
	"github.com/hookrouter/hookrouter/internal/identity"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/approver"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// httpBus is a bus whose agents coder and rival have tokens for the HTTP API. Its guard
// denies what removes, and asks about what deploys.
type httpBus struct {
	*authBus
	url          string
	coder, rival string // tokens
}

func newHTTPBus(t *testing.T) *httpBus {
	t.Helper()
	b := &httpBus{authBus: newAuthBus(t, router.Options{Dispatch: dispatch.Options{MaxData: 64 << 10}})}
	b.coder, b.rival = b.token("coder", time.Time{}), b.token("rival", time.Time{})
	testkit.Eventually(t, "the HTTP API is open", func() bool { return b.s.AgentAddr() != "" })
	b.url = "http://" + b.s.AgentAddr()
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	guards, err := worker.New(b.client("guards"), worker.Options{})
	ok(t, err)
	_, err = guards.Register(t.Context(), worker.Registration{ID: "guard", Events: []string{"tool:pre"}}, func(ctx context.Context, ev worker.Event) (worker.Result, error) {
		if strings.Contains(string(ev.Data), "deploy") {
			return worker.Ask("Deploy?", "Allow always", "Allow once", "Deny")
		}
		return denies(ctx, ev)
	})
	ok(t, err)
	return b
}

func (b *httpBus) token(name string, expires time.Time) (token string) {
	b.t.Helper()
	ok(b.t, identity.Change(b.auth, func(a *identity.Authority) error {
		i, err := a.AddToken(name, expires)
		token = i.Token()
		return err
	}))
	return token
}

// request is one of an agent with a token; headers come in pairs, "Host" among them. Where
// one stands there twice, so does it in the request.
func (b *httpBus) request(method, path, token, body string, headers ...string) *http.Request {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), method, b.url+path, strings.NewReader(body))
	ok(b.t, err)
	r.Header.Set("Content-Type", "application/json")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i < len(headers); i += 2 {
		switch headers[i] {
		case "Host":
			r.Host = headers[i+1]
		case "Content-Type":
			r.Header.Set(headers[i], headers[i+1])
		default:
			r.Header.Add(headers[i], headers[i+1])
		}
	}
	return r
}

// do returns the status and the body of an answer; 0 where there is none.
func (b *httpBus) do(r *http.Request) (status int, body string) {
	b.t.Helper()
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return 0, err.Error()
	}
	return answer.StatusCode, string(text)
}

func (b *httpBus) post(path, token, body string, headers ...string) (status int, answer string) {
	b.t.Helper()
	return b.do(b.request(http.MethodPost, path, token, body, headers...))
}

const (
	execute = "/v1/execute/tool:pre"
	lists   = `{"session_id":"s1","command":"ls"}`     // which every agent may
	deploys = `{"session_id":"s1","command":"deploy"}` // which a person must allow
)

// permits reports whether an answer is a permission.
func permits(status int, body string) bool {
	return status == http.StatusOK && strings.Contains(body, `"action":"continue"`)
}

// TestHTTPPermitsNobodyWithoutAToken: none, a wrong, an expired, a revoked or a replaced
// one, one in another place, and two at once.
func TestHTTPPermitsNobodyWithoutAToken(t *testing.T) {
	t.Parallel()
	b := newHTTPBus(t)
	tries := testkit.Volume(t, 1, 5, 5)
	expired, revoked, replaced := b.token("late", time.Now().Add(-time.Second)), b.token("gone", time.Time{}), b.token("turned", time.Time{})
	ok(t, identity.Change(b.auth, func(a *identity.Authority) error {
		if _, err := a.Revoke("gone"); err != nil {
			return err
		}
		_, err := a.Rotate("turned", time.Time{})
		return err
	}))
	if status, body := b.post(execute, b.coder, lists); !permits(status, body) {
		t.Fatalf("with a token: %d %s", status, body)
	}
	for name, r := range map[string]*http.Request{
		"no token":            b.request(http.MethodPost, execute, "", lists),
		"an expired token":    b.request(http.MethodPost, execute, expired, lists),
		"a revoked token":     b.request(http.MethodPost, execute, revoked, lists),
		"a replaced token":    b.request(http.MethodPost, execute, replaced, lists),
		"most of a token":     b.request(http.MethodPost, execute, b.coder[:len(b.coder)-1], lists),
		"more than a token":   b.request(http.MethodPost, execute, b.coder+"A", lists),
		"a token in the URL":  b.request(http.MethodPost, execute+"?access_token="+url.QueryEscape(b.coder), "", lists),
		"a token as a cookie": b.request(http.MethodPost, execute, "", lists, "Cookie", "Authorization=Bearer "+b.coder),
		"a token as Basic":    b.request(http.MethodPost, execute, "", lists, "Authorization", "Basic "+b.coder),
		"a proxy's header":    b.request(http.MethodPost, execute, "", lists, "Proxy-Authorization", "Bearer "+b.coder, "X-Forwarded-User", "coder"),
		"two tokens":          b.request(http.MethodPost, execute, expired, lists, "Authorization", "Bearer "+b.coder),
		"the digest of one":   b.request(http.MethodPost, execute, "sha256", lists),
		"a dialect":           b.request(http.MethodPost, "/v1/agents/claude-code", "", `{"session_id":"s1","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}`),
		"the pending ones":    b.request(http.MethodGet, "/v1/pending/x", "", ""),
	} {
		for range tries {
			status, body := b.do(r.Clone(t.Context()))
			if permits(status, body) || name != "a dialect" && status != http.StatusUnauthorized && status != http.StatusTooManyRequests {
				t.Errorf("%s: %d %s", name, status, body)
			}
			if r.Body, _ = r.GetBody(); name == "a dialect" && !strings.Contains(body, "block") && !strings.Contains(body, "deny") {
				t.Errorf("%s lets the agent go on: %d %s", name, status, body)
			}
		}
	}
}

// TestHTTPPermitsNoPage: what a page of a browser can send, with a token that it got hold
// of, from another origin or under a name that it made lead here.
func TestHTTPPermitsNoPage(t *testing.T) {
	t.Parallel()
	b := newHTTPBus(t)
	tries := testkit.Volume(t, 1, 5, 5)
	_, port, _ := strings.Cut(b.s.AgentAddr(), ":")
	for name, headers := range map[string][]string{
		"another origin":          {"Origin", "https://evil.example"},
		"an opaque origin":        {"Origin", "null"},
		"its own origin":          {"Origin", b.url},
		"another site":            {"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors"},
		"the same site":           {"Sec-Fetch-Site", "same-site"},
		"a typed address":         {"Sec-Fetch-Site", "none"},
		"a name that leads here":  {"Host", "evil.example:" + port},
		"a name like ours":        {"Host", "localhost.evil.example:" + port},
		"an address in a name":    {"Host", "127.0.0.1.evil.example"},
		"a forwarded name":        {"Host", "evil.example", "X-Forwarded-Host", "localhost"},
		"a form":                  {"Content-Type", "text/plain"},
		"a form with JSON in it":  {"Content-Type", "application/x-www-form-urlencoded"},
		"a type that hides JSON":  {"Content-Type", "text/plain; application/json"},
		"a beacon without a type": {"Content-Type", ""},
	} {
		for range tries {
			if status, body := b.post(execute, b.coder, lists, headers...); permits(status, body) || status < 400 {
				t.Errorf("%s: %d %s", name, status, body)
			}
		}
	}
	asks := b.request(http.MethodOptions, execute, "", "", "Origin", "https://evil.example", "Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "authorization")
	answer, err := http.DefaultClient.Do(asks)
	ok(t, err)
	ok(t, answer.Body.Close())
	if answer.StatusCode < 400 || answer.Header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("a preflight is answered with %d %v", answer.StatusCode, answer.Header)
	}
}

// TestHTTPHeadersAreNobody: coder may always deploy. Rival claims to be coder, in each
// header and field that could say who sends.
func TestHTTPHeadersAreNobody(t *testing.T) {
	t.Parallel()
	b := newHTTPBus(t)
	tries := testkit.Volume(t, 1, 5, 5)
	ctx, ann := testkit.Within(t, testkit.Patience), approver.New(b.client("ann"))
	answered := b.answering(ctx, ann, "Allow always")
	if status, body := b.post(execute, b.coder, deploys, "ce-id", "e1", "ce-specversion", "1.0", "ce-type", "tool:pre", "ce-source", "/coder", "Hook-Wait-Ms", "60000"); !permits(status, body) || <-answered != "nats agent/coder" {
		t.Fatalf("coder: %d %s", status, body)
	}
	if status, body := b.post(execute, b.coder, deploys); !permits(status, body) {
		t.Fatalf("coder, once more: %d %s", status, body)
	}
	event := []string{"ce-specversion", "1.0", "ce-type", "tool:pre", "ce-id", "e1", "ce-source"}
	for name, headers := range map[string][]string{
		"nothing":                 nil,
		"its event, sent again":   append(event, "/coder", "Hook-Retry", "1"),
		"coder as the source":     append(event, "nats agent/coder"),
		"coder as the subject":    append(event, "x", "ce-subject", "nats agent/coder"),
		"an extension":            append(event, "x", "ce-emitter", "nats agent/coder", "ce-agent", "coder"),
		"headers of the router":   {"Hook-Emitter", "nats agent/coder", "Hook-Agent", "coder", "Hook-Sender", "nats agent/coder"},
		"headers of NATS":         {"Nats-Request-Info", `{"acc":"agent-coder","svc":"coder"}`, "Nats-Service-Error-Code", "0"},
		"headers of a proxy":      {"X-Forwarded-User", "coder", "X-Remote-User", "coder", "Forwarded", "for=coder"},
		"its session in a header": {"Hook-Session-Id", "s1"},
		"its session, twice":      {"Hook-Session-Id", "s1", "Hook-Session-Id", "s2"},
		"its session, named":      {"Hook-Session-Id", "s1%00nats agent/coder"},
		"two sources":             append(event, "x", "ce-source", "nats agent/coder"),
		"a rule that decided":     {"Hook-Rule", "allow", "Hook-Mode", "observe", "Hook-Denied-By", ""},
		"defaults":                {"Hook-Defaults", `{"emitter":"nats agent/coder","agent":"coder"}`},
	} {
		for range tries {
			status, body := b.post(execute, b.rival, deploys, append([]string{"Hook-Wait-Ms", "0"}, headers...)...)
			if permits(status, body) {
				t.Errorf("%s: %d %s", name, status, body)
			}
		}
	}
	structured := `{"specversion":"1.0","id":"e1","source":"nats agent/coder","type":"tool:pre","emitter":"nats agent/coder","data":` + deploys + `}`
	if status, body := b.post(execute, b.rival, structured, "Content-Type", "application/cloudevents+json", "Hook-Wait-Ms", "0"); permits(status, body) {
		t.Errorf("a whole event: %d %s", status, body)
	}
	for _, path := range []string{"/v1/session/end", "/v1/session/turn", "/v1/session/close", "/v1/session/revoke"} {
		b.post(path, b.rival, `{"session_id":"s1","agent":"nats agent/coder"}`)
	}
	if info, err := ann.SessionOf(ctx, "nats agent/coder", "s1"); err != nil || len(info.Grants) != 1 || info.Ended != "" {
		t.Errorf("rival changed the session of coder: %+v, %v", info, err)
	}
}

// TestHTTPPendingIsItsAgents: rival waits for coder's approval request, by long poll and by
// stream, before and after a person allowed it.
func TestHTTPPendingIsItsAgents(t *testing.T) {
	t.Parallel()
	b := newHTTPBus(t)
	ctx, ann := testkit.Within(t, testkit.Patience), approver.New(b.client("ann"))
	answer, err := http.DefaultClient.Do(b.request(http.MethodPost, execute, b.coder, deploys, "Hook-Wait-Ms", "0"))
	ok(t, err)
	ok(t, answer.Body.Close())
	pending := answer.Header.Get("Location")
	if answer.StatusCode != http.StatusAccepted || pending == "" {
		t.Fatalf("coder: %d %v", answer.StatusCode, answer.Header)
	}
	tries := func(when string) {
		t.Helper()
		for name, r := range map[string]*http.Request{
			"a long poll":     b.request(http.MethodGet, pending, b.rival, "", "Prefer", "wait=1"),
			"a stream":        b.request(http.MethodGet, pending, b.rival, "", "Accept", "text/event-stream"),
			"nobody's poll":   b.request(http.MethodGet, pending, "", ""),
			"nobody's stream": b.request(http.MethodGet, pending, "", "", "Accept", "text/event-stream"),
		} {
			if status, body := b.do(r); status < 400 || strings.Contains(body, "deploy") || strings.Contains(body, "continue") {
				t.Errorf("%s, %s: %d %s", when, name, status, body)
			}
		}
	}
	tries("while it is open")
	id := strings.TrimPrefix(pending, "/v1/pending/")
	record, err := ann.Get(ctx, id)
	ok(t, err)
	_, err = ann.Answer(ctx, id, approval.Answer{Option: "Allow once", DataSHA256: record.DataSHA256})
	ok(t, err)
	tries("after it was allowed")
	if status, body := b.do(b.request(http.MethodGet, pending, b.coder, "")); !permits(status, body) {
		t.Errorf("coder: %d %s", status, body)
	}
}

// TestHTTPPermitsNothingOversized: bodies, headers and names above their limits, and bodies
// that do not end.
func TestHTTPPermitsNothingOversized(t *testing.T) {
	t.Parallel()
	b := newHTTPBus(t)
	long := strings.Repeat("a", 1<<20)
	for name, r := range map[string]*http.Request{
		"data":             b.request(http.MethodPost, execute, b.coder, `{"command":"ls","x":"`+long+`"}`),
		"data of no guard": b.request(http.MethodPost, "/v1/emit/tool:pre", b.coder, `{"command":"ls","x":"`+long+`"}`),
		"a header":         b.request(http.MethodPost, execute, b.coder, lists, "ce-x", long),
		"defaults":         b.request(http.MethodPost, execute, b.coder, lists, "Hook-Defaults", `{"x":"`+long[:16<<10]+`"}`),
		"a session":        b.request(http.MethodPost, execute, b.coder, lists, "Hook-Session-Id", long[:4096]),
		"no text":          b.request(http.MethodPost, execute, b.coder, `{"command":"ls"}`, "Hook-Session-Id", "%FF"),
		"two texts":        b.request(http.MethodPost, execute, b.coder, `{"command":"ls"}`, "Hook-Session-Id", "s1%00nats%20agent/rival"),
		"an event's name":  b.request(http.MethodPost, "/v1/execute/tool:"+long[:4096], b.coder, lists),
		"a turn":           b.request(http.MethodPost, "/v1/session/turn", b.coder, `{"session_id":"`+long+`"}`),
		"something packed": b.request(http.MethodPost, execute, b.coder, lists, "Content-Encoding", "gzip"),
		"deep data":        b.request(http.MethodPost, execute, b.coder, strings.Repeat(`{"a":`, 20_000)+"1"+strings.Repeat("}", 20_000)),
	} {
		if status, body := b.do(r); status != 0 && status < 400 || permits(status, body) {
			t.Errorf("%s: %d %.200s", name, status, body)
		}
	}
	endless := b.request(http.MethodPost, execute, b.coder, "")
	reader, writer := io.Pipe()
	defer writer.Close()
	endless.Body, endless.ContentLength, endless.GetBody = reader, -1, nil
	go func() {
		out := bufio.NewWriter(writer)
		_, _ = out.WriteString(`{"command":"ls","x":"`)
		for {
			if _, err := out.WriteString(long); err != nil {
				return
			}
		}
	}()
	if status, body := b.do(endless); status != 0 && status < 400 || permits(status, body) {
		t.Errorf("a body that does not end: %d %s", status, body)
	}
	if status, body := b.post(execute, b.coder, lists); !permits(status, body) {
		t.Errorf("afterwards: %d %s", status, body)
	}
}
