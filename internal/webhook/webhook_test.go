package webhook_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/trace"
	"go.uber.org/goleak"

	"github.com/hookrouter/hookrouter/internal/webhook"
	"github.com/hookrouter/hookrouter/pkg/approval"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// secret is the one of the example in the specification's libraries.
const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// run starts a sender and returns what ends it and waits.
func run(t *testing.T, o webhook.Options) (s *webhook.Sender, stop func()) {
	t.Helper()
	if o.Secret == "" {
		o.Secret = secret
	}
	s, err := webhook.New(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	t.Cleanup(stop)
	return s, stop
}

// received is one request as a receiver saw it.
type received struct {
	header http.Header
	body   []byte
}

// listen starts a receiver that tells what comes and answers as answer says; nil
// answers 200.
func listen(t *testing.T, answer http.HandlerFunc) (url string, requests <-chan received) {
	t.Helper()
	ch := make(chan received, 1000)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		ch <- received{r.Header, body}
		if answer != nil {
			answer(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL, ch
}

func wait[T any](t *testing.T, ch <-chan T) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(20 * time.Second):
		t.Fatal("nothing came within 20 s")
		panic("unreachable")
	}
}

var question = approval.Request{
	ID: "q1", Session: "s1", Event: "tool:pre", Hook: "guard", Prompt: "Run it?", Options: []string{"Allow", "Deny"}, Default: "deny",
	Created:    approval.At(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)),
	Expires:    approval.At(time.Date(2026, 1, 2, 3, 9, 5, 0, time.UTC)),
	DataSHA256: approval.Digest([]byte(`{"tool_name":"Bash"}`)),
}

func TestReceiversAreToldTheQuestionAndTheDecision(t *testing.T) {
	const asked = `"id":"q1","session_id":"s1","event":"tool:pre","hook":"guard","prompt":"Run it?","options":["Allow","Deny"],` +
		`"default":"deny","created":"2026-01-02T03:04:05.000Z","expires":"2026-01-02T03:09:05.000Z",` +
		`"data_sha256":"DIGEST"`
	long := question
	long.Prompt = strings.Repeat("ä", 100_000)
	cut := strings.Repeat("ä", 1500) + "...[truncated]..." + strings.Repeat("ä", 500)
	hides := question
	hides.Prompt = "Run ls" + strings.Repeat(" ", 3000) + "; \u202elruc?\n\nAsked because: nothing allows it"
	for name, c := range map[string]struct {
		notice     approval.Notice
		kind, want string
	}{
		"an approval request": {approval.Notice{Request: question}, "approval:required", "{" + asked + "}"},
		"of a proven agent":   {approval.Notice{Request: question, Emitter: "nats agent/coder"}, "approval:required", "{" + asked + `,"agent":"nats agent/coder"}`},
		"a decision": {
			approval.Notice{Request: question, Decision: &approval.Decision{Option: "Allow", Granted: true, DecidedBy: "ann", Note: "fine", Decided: question.Expires}},
			"approval:resolved", "{" + asked + `,"option":"Allow","granted":true,"decided_by":"ann","note":"fine","decided":"2026-01-02T03:09:05.000Z"}`,
		},
		"a note of 200 kB": {
			approval.Notice{Request: question, Decision: &approval.Decision{Note: long.Prompt, Error: long.Prompt}},
			"approval:resolved",
			"{" + asked + `,"granted":false,"decided_by":"","note":"` + cut + `","decided":"0001-01-01T00:00:00.000Z","error":"` + cut + `"}`,
		},
		"a prompt that hides": {
			approval.Notice{Request: hides},
			"approval:required",
			"{" + strings.Replace(asked, "Run it?", `Run ls⟨3000 blanks⟩; ⟨U+202E⟩lruc?\n\nAsked because: nothing allows it`, 1) + "}",
		},
		"a prompt of 200 kB": {approval.Notice{Request: long}, "approval:required", "{" + strings.Replace(asked, "Run it?", cut, 1) + "}"},
	} {
		t.Run(name, func(t *testing.T) {
			url, requests := listen(t, nil)
			s, _ := run(t, webhook.Options{URLs: []string{url}})
			s.Notify(t.Context(), c.notice)
			var got struct {
				Type, ID, Time string
				Approval       json.RawMessage
			}
			r := wait(t, requests)
			if err := json.Unmarshal(r.body, &got); err != nil {
				t.Fatal(err)
			}
			want := strings.Replace(c.want, "DIGEST", question.DataSHA256, 1)
			if diff := cmp.Diff(want, string(got.Approval)); diff != "" {
				t.Errorf("approval (-want +got):\n%s", diff)
			}
			if got.Type != c.kind || got.ID != r.header.Get("webhook-id") {
				t.Errorf("type %s, id %s; want %s and the id of the header, %s", got.Type, got.ID, c.kind, r.header.Get("webhook-id"))
			}
			if at, err := time.Parse(time.RFC3339, got.Time); err != nil || time.Since(at).Abs() > time.Minute {
				t.Errorf("time %q; want now", got.Time)
			}
			if got := r.header.Get("Content-Type"); got != "application/json" {
				t.Errorf("content type %q", got)
			}
		})
	}
}

// News names the span that it is about, at each try; only where there is one.
func TestNewsCarriesTraceContext(t *testing.T) {
	span, _ := trace.SpanIDFromHex("b7ad6b7169203331")
	id, _ := trace.TraceIDFromHex("0af7651916cd43dd8448eb211c80319c")
	about := trace.ContextWithSpanContext(t.Context(), trace.NewSpanContext(trace.SpanContextConfig{TraceID: id, SpanID: span, TraceFlags: 1}))
	tries := 0
	url, requests := listen(t, func(w http.ResponseWriter, _ *http.Request) {
		if tries++; tries == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	s, _ := run(t, webhook.Options{URLs: []string{url}, Backoff: time.Millisecond})
	s.Notify(about, approval.Notice{Request: question})
	s.Notify(t.Context(), approval.Notice{Request: question})
	for _, want := range []string{"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", ""} {
		if got := wait(t, requests).header.Get("traceparent"); got != want {
			t.Errorf("traceparent %q, want %q", got, want)
		}
	}
}

func TestTheSameNewsHasTheSameIDFromEveryRouter(t *testing.T) {
	url, requests := listen(t, nil)
	one, _ := run(t, webhook.Options{URLs: []string{url}})
	two, _ := run(t, webhook.Options{URLs: []string{url}})
	one.Notify(t.Context(), approval.Notice{Request: question})
	two.Notify(t.Context(), approval.Notice{Request: question})
	a, b := wait(t, requests).header.Get("webhook-id"), wait(t, requests).header.Get("webhook-id")
	one.Notify(t.Context(), approval.Notice{Request: question, Decision: &approval.Decision{}})
	c := wait(t, requests).header.Get("webhook-id")
	if a == "" || a != b || a == c || strings.Contains(a, ".") {
		t.Errorf("ids %q and %q of one approval request, %q of its decision", a, b, c)
	}
}

func TestAnEmptySenderTellsNobody(t *testing.T) {
	s, stop := run(t, webhook.Options{})
	s.Notify(t.Context(), approval.Notice{Request: question})
	stop()
	if got := s.Stats(); got != (webhook.Stats{}) {
		t.Errorf("stats %+v; want none", got)
	}
}

// script is a transport that answers with codes, one after the other and the
// last one for ever, and keeps the times of the attempts.
type script struct {
	codes      []int // 0 is a network error
	retryAfter string
	attempts   []time.Duration
	start      time.Time
}

func (s *script) RoundTrip(*http.Request) (*http.Response, error) {
	s.attempts = append(s.attempts, time.Since(s.start))
	code := s.codes[min(len(s.attempts), len(s.codes))-1]
	if code == 0 {
		return nil, errors.New("connection refused")
	}
	header := http.Header{}
	if s.retryAfter != "" {
		header.Set("Retry-After", s.retryAfter)
	}
	return &http.Response{StatusCode: code, Header: header, Body: io.NopCloser(strings.NewReader("no"))}, nil
}

func TestAttempts(t *testing.T) {
	ms, s := time.Millisecond, time.Second
	for name, c := range map[string]struct {
		codes      []int
		retryAfter string
		window     time.Duration
		want       []time.Duration // about when, with the jitter in mind
		taken      bool
	}{
		"a success is one":                           {codes: []int{204}, want: []time.Duration{0}, taken: true},
		"a network error is passing":                 {codes: []int{0, 200}, want: []time.Duration{0, s}, taken: true},
		"500 is passing":                             {codes: []int{500, 503, 200}, want: []time.Duration{0, s, 3 * s}, taken: true},
		"429 is passing":                             {codes: []int{429, 200}, want: []time.Duration{0, s}, taken: true},
		"six are enough":                             {codes: []int{500}, want: []time.Duration{0, s, 3 * s, 7 * s, 15 * s, 31 * s}},
		"400 is final":                               {codes: []int{400, 200}, want: []time.Duration{0}},
		"404 is final":                               {codes: []int{404, 200}, want: []time.Duration{0}},
		"410 is final":                               {codes: []int{410, 200}, want: []time.Duration{0}},
		"a redirect is final":                        {codes: []int{302, 200}, want: []time.Duration{0}},
		"the window ends them":                       {codes: []int{500}, window: 5 * s, want: []time.Duration{0, s, 3 * s}},
		"Retry-After in seconds is kept to":          {codes: []int{429, 200}, retryAfter: "40", want: []time.Duration{0, 60 * s}, taken: true},
		"Retry-After as a time is kept to":           {codes: []int{503, 200}, retryAfter: "Sat, 01 Jan 2000 00:00:40 GMT", want: []time.Duration{0, 60 * s}, taken: true},
		"a Retry-After that can't be counts nothing": {codes: []int{429, 200}, retryAfter: "99999999999999", want: []time.Duration{0, s}, taken: true},
		"a Retry-After of an hour is the end":        {codes: []int{429, 200}, retryAfter: "3600", want: []time.Duration{0}},
		"a Retry-After of the past counts nothing":   {codes: []int{429, 200}, retryAfter: "Fri, 01 Jan 1999 00:00:00 GMT", want: []time.Duration{0, s}, taken: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				receiver := &script{codes: c.codes, retryAfter: c.retryAfter, start: time.Now()}
				sender, stop := run(t, webhook.Options{URLs: []string{"http://r.test"}, Client: &http.Client{Transport: receiver}, Window: c.window})
				sender.Notify(t.Context(), approval.Notice{Request: question})
				time.Sleep(10 * time.Minute) //nolint:forbidigo // of the bubble's clock
				stop()
				if len(receiver.attempts) != len(c.want) {
					t.Fatalf("attempts at %v; want about %v", receiver.attempts, c.want)
				}
				for i, at := range receiver.attempts {
					if (at - c.want[i]).Abs() > c.want[i]/4+ms {
						t.Errorf("attempts at %v; want about %v", receiver.attempts, c.want)
					}
				}
				want := webhook.Stats{Failed: 1}
				if c.taken {
					want = webhook.Stats{Delivered: 1}
				}
				if diff := cmp.Diff(want, sender.Stats()); diff != "" {
					t.Errorf("stats (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestAWaitIsNotTheSameTwice(t *testing.T) {
	seen := map[time.Duration]bool{}
	for range 5 {
		synctest.Test(t, func(t *testing.T) {
			receiver := &script{codes: []int{500, 200}, start: time.Now()}
			sender, stop := run(t, webhook.Options{URLs: []string{"http://r.test"}, Client: &http.Client{Transport: receiver}})
			sender.Notify(t.Context(), approval.Notice{Request: question})
			time.Sleep(time.Minute) //nolint:forbidigo // of the bubble's clock
			stop()
			seen[receiver.attempts[1]] = true
		})
	}
	if len(seen) < 2 {
		t.Errorf("every wait took %v", seen)
	}
}

func TestARedirectIsNotFollowed(t *testing.T) {
	elsewhere, leaked := listen(t, nil)
	url, requests := listen(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere, http.StatusTemporaryRedirect)
	})
	var log bytes.Buffer
	// A client that follows redirects is no excuse.
	s, stop := run(t, webhook.Options{URLs: []string{url}, Client: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}, Log: slog.New(slog.NewTextHandler(&log, nil))})
	s.Notify(t.Context(), approval.Notice{Request: question})
	wait(t, requests)
	stop()
	if len(leaked) > 0 {
		t.Error("the news went to where the receiver pointed")
	}
	if want := "redirects are not followed"; !strings.Contains(log.String(), want) {
		t.Errorf("the log has no %q:\n%s", want, &log)
	}
}

func TestASlowReceiverHoldsUpNobody(t *testing.T) {
	release := make(chan struct{})
	slow, arrived := listen(t, func(http.ResponseWriter, *http.Request) { <-release })
	fast, requests := listen(t, nil)
	s, stop := run(t, webhook.Options{URLs: []string{slow, fast}})
	for i := range 5 {
		s.Notify(t.Context(), approval.Notice{Request: approval.Request{ID: strconv.Itoa(i)}})
	}
	wait(t, arrived)
	for i := range 5 {
		if r := wait(t, requests); !strings.Contains(string(r.body), fmt.Sprintf(`"approval":{"id":"%d",`, i)) {
			t.Errorf("request %d is %s", i, r.body)
		}
	}
	close(release)
	stop()
	if got := s.Stats(); got != (webhook.Stats{Delivered: 10}) {
		t.Errorf("stats %+v; want that all were delivered at the end", got)
	}
}

func TestWhatDoesNotFitTheQueueIsDropped(t *testing.T) {
	release := make(chan struct{})
	url, arrived := listen(t, func(http.ResponseWriter, *http.Request) { <-release })
	var log bytes.Buffer
	s, stop := run(t, webhook.Options{URLs: []string{url}, Queue: 2, Log: slog.New(slog.NewTextHandler(&log, nil))})
	s.Notify(t.Context(), approval.Notice{Request: question})
	wait(t, arrived) // the worker is busy, the queue empty
	for range 10 {
		s.Notify(t.Context(), approval.Notice{Request: question})
	}
	close(release)
	stop()
	if diff := cmp.Diff(webhook.Stats{Delivered: 3, Dropped: 8}, s.Stats()); diff != "" {
		t.Errorf("stats (-want +got):\n%s", diff)
	}
	if n := strings.Count(log.String(), "the receiver's queue is full"); n != 4 {
		t.Errorf("%d lines of the 8 that did not fit; want those of 1, 2, 4 and 8:\n%s", n, &log)
	}
}

func TestWhatCanNotBeSentIsDropped(t *testing.T) {
	url, _ := listen(t, nil)
	var log bytes.Buffer
	s, stop := run(t, webhook.Options{URLs: []string{url, url}, Log: slog.New(slog.NewTextHandler(&log, nil))})
	long := question
	long.Options = []string{strings.Repeat("x", 100_000)}
	s.Notify(t.Context(), approval.Notice{Request: long})
	stop()
	if diff := cmp.Diff(webhook.Stats{Dropped: 2}, s.Stats()); diff != "" {
		t.Errorf("stats (-want +got):\n%s", diff)
	}
	if n := strings.Count(log.String(), "webhook not encoded"); n != 1 {
		t.Errorf("%d lines; want one:\n%s", n, &log)
	}
}

func TestLostNoticesAreLogged(t *testing.T) {
	url, requests := listen(t, nil)
	var log bytes.Buffer
	s, stop := run(t, webhook.Options{URLs: []string{url}, Log: slog.New(slog.NewTextHandler(&log, nil))})
	s.Notify(t.Context(), approval.Notice{Request: question, Lost: true})
	wait(t, requests)
	stop()
	if want := "webhooks lost"; !strings.Contains(log.String(), want) {
		t.Errorf("the log has no %q:\n%s", want, &log)
	}
}

func TestAReceiverThatIsGivenUpDoesNotHoldUpTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		receiver := &script{codes: []int{429, 200}, retryAfter: "3600", start: time.Now()}
		sender, stop := run(t, webhook.Options{URLs: []string{"http://r.test"}, Client: &http.Client{Transport: receiver}})
		sender.Notify(t.Context(), approval.Notice{Request: question})
		sender.Notify(t.Context(), approval.Notice{Request: question})
		synctest.Wait()
		if got := sender.Stats(); got != (webhook.Stats{Delivered: 1, Failed: 1}) {
			t.Errorf("at once: stats %+v; want one given up and one delivered", got)
		}
		stop()
	})
}

func TestTheEndClosesConnections(t *testing.T) {
	closed := make(chan struct{})
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			close(closed)
		}
	}
	server.Start()
	defer server.Close()
	s, stop := run(t, webhook.Options{URLs: []string{server.URL}})
	s.Notify(t.Context(), approval.Notice{Request: question})
	stop()
	wait(t, closed)
}

func TestTheEndTriesWhatIsQueuedOnce(t *testing.T) {
	url, requests := listen(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	s, stop := run(t, webhook.Options{URLs: []string{url}, Backoff: time.Hour, Window: 2 * time.Hour})
	for i := range 5 {
		s.Notify(t.Context(), approval.Notice{Request: approval.Request{ID: strconv.Itoa(i)}})
	}
	wait(t, requests) // it waits an hour for its second attempt
	stop()
	if len(requests) != 4 {
		t.Errorf("%d attempts at the end; want one for each of the four that waited", len(requests))
	}
	if got := s.Stats(); got != (webhook.Stats{Failed: 5}) {
		t.Errorf("stats %+v; want that all failed", got)
	}
}

func TestTheEndDoesNotWaitForAReceiverThatHangs(t *testing.T) {
	release := make(chan struct{})
	url, arrived := listen(t, func(http.ResponseWriter, *http.Request) { <-release })
	var log bytes.Buffer
	s, stop := run(t, webhook.Options{URLs: []string{url}, Drain: 20 * time.Millisecond, Timeout: time.Hour, Log: slog.New(slog.NewTextHandler(&log, nil))})
	for range 3 {
		s.Notify(t.Context(), approval.Notice{Request: question})
	}
	wait(t, arrived)
	stop()
	close(release)
	if got := s.Stats(); got != (webhook.Stats{Failed: 3}) {
		t.Errorf("stats %+v; want that all failed", got)
	}
	if want := `"webhooks not sent before shutdown" receiver=1`; !strings.Contains(log.String(), want) {
		t.Errorf("the log has no %s:\n%s", want, &log)
	}
}

func TestAnAttemptTakesAsLongAsAllowed(t *testing.T) {
	release := make(chan struct{})
	url, arrived := listen(t, func(http.ResponseWriter, *http.Request) { <-release })
	s, stop := run(t, webhook.Options{URLs: []string{url}, Attempts: 2, Backoff: time.Millisecond, Timeout: 20 * time.Millisecond})
	s.Notify(t.Context(), approval.Notice{Request: question})
	wait(t, arrived)
	wait(t, arrived) // the first one was given up
	close(release)
	stop()
}

func TestAnEndlessAnswerIsNotRead(t *testing.T) {
	url, _ := listen(t, func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 64<<10)); err != nil {
				return
			}
		}
	})
	s, stop := run(t, webhook.Options{URLs: []string{url}, Timeout: time.Hour, Drain: time.Hour})
	s.Notify(t.Context(), approval.Notice{Request: question})
	stop()
	if got := s.Stats(); got != (webhook.Stats{Delivered: 1}) {
		t.Errorf("stats %+v; want one delivered", got)
	}
}

func TestNewRefuses(t *testing.T) {
	for name, c := range map[string]struct{ url, secret, want string }{
		"another scheme":         {"ftp://ann:hunter2@h/path-token", secret, `webhook URL 1: its scheme must be http or https, not "ftp"`},
		"no scheme":              {"h/path-token", secret, `its scheme must be http or https, not ""`},
		"no host":                {"https:///path-token", secret, "it names no host"},
		"what is no URL":         {"https://ann:hunter2#x@h/path-token", secret, "it can't be read"},
		"no secret":              {"https://h", "", "the webhook secret must be whsec_"},
		"a secret of words":      {"https://h", "hunter2", "the webhook secret must be whsec_"},
		"a secret without whsec": {"https://h", strings.TrimPrefix(secret, "whsec_"), "the webhook secret must be whsec_"},
		"a short secret":         {"https://h", "whsec_aHVudGVyMg==", "24 to 64 bytes"},
		"a long secret":          {"https://h", "whsec_" + strings.Repeat("QUJD", 22), "24 to 64 bytes"},
		"one short secret":       {"https://h", secret + " whsec_aHVudGVyMg==", "24 to 64 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := webhook.New(webhook.Options{URLs: []string{c.url}, Secret: c.secret})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("New = %v; want %s", err, c.want)
			}
			for _, private := range []string{"hunter2", "aHVudGVyMg", "token", "MfKQ9r8"} {
				if strings.Contains(err.Error(), private) {
					t.Errorf("the error shows %q: %v", private, err)
				}
			}
		})
	}
}

func TestLogsShowNothingSecret(t *testing.T) {
	answering, _ := listen(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	var log bytes.Buffer
	s, stop := run(t, webhook.Options{
		URLs:     []string{strings.Replace(answering, "://", "://ann:hunter2@", 1) + "/path-token?key=token", "http://ann:hunter2@127.0.0.1:1/path-token"},
		Attempts: 1, Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	s.Notify(t.Context(), approval.Notice{Request: question})
	stop()
	for _, want := range []string{"the receiver answered 418", "connection refused", "receiver=2 host=127.0.0.1:1"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log has no %q:\n%s", want, &log)
		}
	}
	for _, private := range []string{"hunter2", "token", "MfKQ9r8", "Run it?"} {
		if strings.Contains(log.String(), private) {
			t.Errorf("the log shows %q:\n%s", private, &log)
		}
	}
}
