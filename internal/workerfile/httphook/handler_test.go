package httphook_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	ce "github.com/cloudevents/sdk-go/v2"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/webhook/signature"
	"github.com/hookrouter/hookrouter/internal/workerfile/httphook"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

func TestMain(m *testing.M) {
	testkit.Parallel(16) // the tests wait for retries
	goleak.VerifyTestMain(m)
}

const trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

var bash = events.Event{
	ID: "e1", Source: "/agent", Name: "tool:pre", Session: "s1", Time: "2026-01-02T03:04:05Z",
	Extensions: map[string]string{"traceparent": trace},
	Data:       json.RawMessage(`{"tool_name":"Bash", "big":9007199254740993}`),
}

func discard() *log.Logger { return log.New(io.Discard, "", 0) }

// ask calls a hook whose endpoint is serve; c has the other settings.
func ask(t *testing.T, ctx context.Context, c httphook.Config, serve http.HandlerFunc) (chain.Result, error) {
	t.Helper()
	server := httptest.NewUnstartedServer(serve)
	server.Config.ErrorLog = discard()
	server.Start()
	t.Cleanup(server.Close)
	c.URL = server.URL + c.URL
	hook, err := httphook.New(kind.Section{}, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(hook.Close)
	return hook.Handler(ctx, bash)
}

func TestAnAnswerIsAHookResult(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		code int
		body string
		want chain.Result
	}{
		"204":                      {204, "", chain.Result{}},
		"a denial":                 {200, `{"action":"deny","reason":"no"}`, chain.Denial("no")},
		"a change keeps its bytes": {200, `{"action":"modify","data":{"n": 9007199254740993}}`, chain.Result{Action: chain.Modify, Data: json.RawMessage(`{"n": 9007199254740993}`)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := ask(t, t.Context(), httphook.Config{}, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(c.code)
				fmt.Fprint(w, c.body)
			})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
		})
	}
}

// TestAnObserverNeedNotAnswer uses an endpoint that answers 200 OK to every request.
func TestAnObserverNeedNotAnswer(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	for mode, fails := range map[chain.Mode]bool{chain.Observe: false, chain.Shadow: true, chain.Enforce: true, "": true} {
		hook, err := httphook.New(kind.Section{Registration: &chain.Registration{Mode: mode}}, httphook.Config{URL: server.URL})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(hook.Close)
		if _, err := hook.Handler(t.Context(), bash); errors.Is(err, chain.ErrInvalidResult) != fails {
			t.Errorf("%q: %v", mode, err)
		}
	}
}

func TestTheEndpointGetsASignedCloudEvent(t *testing.T) {
	const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	t.Setenv("HTTPKIND_SECRET", secret)
	t.Setenv("HTTPKIND_AUTH", "Bearer x")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var got *http.Request
	var body []byte
	_, err := ask(t, ctx, httphook.Config{
		URL: "/hook?a=b", SecretEnv: "HTTPKIND_SECRET", Headers: map[string]string{"Authorization": "HTTPKIND_AUTH"},
	}, func(w http.ResponseWriter, r *http.Request) {
		got = r
		body, _ = io.ReadAll(r.Body)
		w.WriteHeader(http.StatusNoContent)
	})
	if err != nil {
		t.Fatal(err)
	}
	if got.RequestURI != "/hook?a=b" || got.Header.Get("Authorization") != "Bearer x" || got.Header.Get("Traceparent") != trace {
		t.Errorf("request %s %v", got.RequestURI, got.Header)
	}
	var left int
	if _, err := fmt.Sscan(got.Header.Get("Hook-Timeout-Ms"), &left); err != nil || left < 1 || left > 20000 {
		t.Errorf("Hook-Timeout-Ms %q", got.Header.Get("Hook-Timeout-Ms"))
	}
	var cloud ce.Event
	if err := json.Unmarshal(body, &cloud); err != nil || cloud.Type() != "tool:pre" || cloud.Subject() != "s1" || cloud.ID() != "e1" {
		t.Errorf("event %s, %v", body, err)
	}
	if !bytes.Contains(body, bash.Data) {
		t.Errorf("the data is not in %s byte for byte", body)
	}
	keys, err := signature.Parse(secret)
	if err != nil {
		t.Fatal(err)
	}
	var at int64
	if _, err := fmt.Sscan(got.Header.Get("Webhook-Timestamp"), &at); err != nil {
		t.Fatal(err)
	}
	want := http.Header{}
	keys.Set(want, "e1", time.Unix(at, 0), body)
	if got := got.Header.Get("Webhook-Signature"); got != want.Get("Webhook-Signature") {
		t.Errorf("signature %q; want %q", got, want.Get("Webhook-Signature"))
	}
}

// TestInvalidAnswersAreFailures counts the attempts too: none of these requests is safe to repeat.
func TestInvalidAnswersAreFailures(t *testing.T) {
	t.Parallel()
	header := func(code int, name, value string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set(name, value)
			w.WriteHeader(code)
			fmt.Fprint(w, `{"action":"continue"}`)
		}
	}
	body := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) }
	}
	for name, c := range map[string]struct {
		serve http.HandlerFunc
		want  string
	}{
		"500":                          {header(500, "a", "b"), "it answered 500 Internal Server Error"},
		"404":                          {header(404, "a", "b"), "it answered 404 Not Found"},
		"202":                          {header(202, "a", "b"), "it answered 202 Accepted"},
		"503 that names no time":       {header(503, "a", "b"), "it answered 503 Service Unavailable"},
		"503 for longer than there is": {header(503, "Retry-After", "3600"), "it answered 503 Service Unavailable"},
		"a redirect":                   {header(302, "Location", "/other"), "it answered 302 Found: redirects are not followed, write the new address as url"},
		"a redirect that keeps POST":   {header(308, "Location", "/other"), "redirects are not followed"},
		"a page":                       {body("<html>"), "read the answer: invalid result"},
		"half a JSON":                  {body(`{"action":"de`), "read the answer: invalid result: data is not JSON"},
		"an answer without end":        {func(w http.ResponseWriter, r *http.Request) { forever(w, r) }, "the answer is too long: more than 1000 bytes, the limit max_response"},
		"200 and nothing else":         {func(http.ResponseWriter, *http.Request) {}, "204 No Content is to continue"},
		"an answer without an action":  {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"deny":true}`) }, `it has "deny" and no action`},
		"a connection that breaks":     {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var tries atomic.Int32
			got, err := ask(t, t.Context(), httphook.Config{MaxResponse: 1000, URL: "/s3cret"}, func(w http.ResponseWriter, r *http.Request) {
				tries.Add(1)
				_, _ = io.Copy(io.Discard, r.Body)
				c.serve(w, r)
			})
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "s3cret") || errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("result %+v, %v; want %s", got, err, c.want)
			}
			if n := tries.Load(); n != 1 {
				t.Errorf("%d tries; want 1", n)
			}
		})
	}
}

func forever(w io.Writer, r *http.Request) {
	for r.Context().Err() == nil {
		if _, err := w.Write(bytes.Repeat([]byte(" "), 1000)); err != nil {
			return
		}
	}
}

func TestATryThatWasNotWorkedOnIsRepeated(t *testing.T) {
	t.Parallel()
	again := func(code int, name, value string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set(name, value)
			w.WriteHeader(code)
		}
	}
	for name, c := range map[string]struct {
		idempotent bool
		first      http.HandlerFunc
	}{
		"503 with Retry-After":            {false, again(503, "Retry-After", "0")},
		"429 with a time":                 {false, again(429, "Retry-After", "Fri, 02 Jan 2026 03:04:05 GMT")},
		"502 of one that is idempotent":   {true, again(502, "a", "b")},
		"a broken connection of one such": {true, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }},
		"half an answer of one such": {true, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "9")
			fmt.Fprint(w, "{")
			panic(http.ErrAbortHandler)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var ids []string
			got, err := ask(t, t.Context(), httphook.Config{Idempotent: c.idempotent}, func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				ids = append(ids, r.Header.Get("Content-Type"))
				if len(ids) == 1 {
					c.first(w, r)
				}
				fmt.Fprint(w, `{"action":"deny"}`)
			})
			if err != nil || !got.Denied() || len(ids) != 2 {
				t.Errorf("result %+v, %v after %d tries; want a denial by the second", got, err, len(ids))
			}
		})
	}
}

func TestTriesEnd(t *testing.T) {
	t.Parallel()
	var tries atomic.Int32
	_, err := ask(t, t.Context(), httphook.Config{}, func(w http.ResponseWriter, _ *http.Request) {
		tries.Add(1)
		w.Header().Set("Retry-After", "0")
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	if err == nil || tries.Load() != 3 {
		t.Errorf("%d tries, %v; want 3", tries.Load(), err)
	}
}

// Nobody listens at first. Nothing was sent then, so the request is retried.
func TestAnEndpointThatIsStartedLateAnswers(t *testing.T) {
	t.Parallel()
	hook, err := httphook.New(kind.Section{}, httphook.Config{URL: "http://" + nobodyListens(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer hook.Close()
	started := time.Now()
	if _, err := hook.Handler(t.Context(), bash); err == nil || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("error %v; want that the connection was refused", err)
	}
	if took := time.Since(started); took < 150*time.Millisecond { // 50 ms and 100 ms between three attempts
		t.Errorf("it gave up after %v: it was not tried three times", took)
	}
}

// nobodyListens returns an address that nothing else uses while the test runs.
func nobodyListens(t *testing.T) string {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(fd) })
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	bound, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("127.0.0.1:%d", bound.(*syscall.SockaddrInet4).Port)
}

func TestAnEndpointThatHangsIsLeftAtTheDeadline(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := ask(t, ctx, httphook.Config{Idempotent: true, URL: "/s3cret"}, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // so that the server notices that the client has left
		<-r.Context().Done()
	})
	if !errors.Is(err, context.DeadlineExceeded) || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("error %v; want %v", err, context.DeadlineExceeded)
	}
}

func TestACallBeyondTheLimitWaitsForASlot(t *testing.T) {
	t.Parallel()
	entered, leave := make(chan struct{}), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		entered <- struct{}{}
		<-leave
		w.WriteHeader(http.StatusNoContent)
	}))
	defer server.Close()
	hook, err := httphook.New(kind.Section{}, httphook.Config{URL: server.URL, Concurrency: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer hook.Close()
	first := make(chan error, 1)
	go func() {
		_, err := hook.Handler(t.Context(), bash)
		first <- err
	}()
	<-entered
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := hook.Handler(ctx, bash); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "all 1 slots are taken") {
		t.Errorf("a call without time left: %v", err)
	}
	close(leave)
	if err := <-first; err != nil {
		t.Errorf("the first call failed: %v", err)
	}
}
