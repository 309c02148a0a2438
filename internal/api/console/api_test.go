package console_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/hookrouter/hookrouter/internal/api/console"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/approval"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T, o console.Options) *console.Console {
	t.Helper()
	o.Token = token
	c := console.New(o)
	t.Cleanup(c.Close)
	return c
}

// ask sends one request, with the token unless the headers say otherwise.
func ask(c *console.Console, method, target, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://localhost:8080"+target, strings.NewReader(body))
	r.Header.Set("Authorization", right)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Del(headers[i])
		if headers[i] == "Host" {
			r.Host = headers[i+1]
		} else if headers[i+1] != "" {
			r.Header.Set(headers[i], headers[i+1])
		}
	}
	w := httptest.NewRecorder()
	c.Handler().ServeHTTP(w, r)
	return w
}

func decode[T any](t *testing.T, r *httptest.ResponseRecorder) (body T) {
	t.Helper()
	if err := json.Unmarshal(r.Body.Bytes(), &body); err != nil {
		t.Fatalf("status %d: %v", r.Code, err)
	}
	return body
}

type refusal struct {
	Error string
	Code  int
}

type listed struct {
	Approvals []approval.Request
	Total     int
	Cursor    string
}

func TestRefusals(t *testing.T) {
	decided, expired := question("decided"), question("expired")
	decided.Decision = &approval.Decision{Option: "Deny", DecidedBy: "alice"}
	expired.Expires = approval.At(time.Now().Add(-time.Second))
	const post, get = http.MethodPost, http.MethodGet
	for name, test := range map[string]struct {
		method, target, body string
		code                 int
		says                 string
	}{
		"an option that was not offered":       {post, "/v1/approvals/open", `{"option":"Maybe"}`, 400, "not offered"},
		"an answer without an option":          {post, "/v1/approvals/open", `{}`, 400, "malformed"},
		"a time that is none":                  {post, "/v1/approvals/open", `{"option":"Allow always","expires":"yesterday"}`, 400, "expires must be a time such as 2026-"},
		"no body":                              {post, "/v1/approvals/open", ``, 400, "not an answer"},
		"null":                                 {post, "/v1/approvals/open", `null`, 400, "not an answer"},
		"a member that is not known":           {post, "/v1/approvals/open", `{"option":"Deny","opinion":"x"}`, 400, "not an answer"},
		"a member in another case":             {post, "/v1/approvals/open", `{"Option":"Allow once"}`, 400, "not an answer"},
		"a member twice":                       {post, "/v1/approvals/open", `{"option":"Deny","option":"Allow once"}`, 400, "not an answer"},
		"two answers":                          {post, "/v1/approvals/open", `{"option":"Deny"}{"option":"Allow once"}`, 400, "not an answer"},
		"an option that is a number":           {post, "/v1/approvals/open", `{"option":1}`, 400, "not an answer"},
		"an approval request that nobody made": {post, "/v1/approvals/nobody", `{"option":"Deny"}`, 404, "no approval"},
		"an id that is none":                   {post, "/v1/approvals/a.%3E", `{"option":"Deny"}`, 404, "no approval"},
		"a second answer":                      {post, "/v1/approvals/decided", `{"option":"Allow once"}`, 409, "alice decided already: Deny"},
		"an answer to other data":              {post, "/v1/approvals/open", `{"option":"Allow once","data_sha256":"00"}`, 409, "other data"},
		"an answer too late":                   {post, "/v1/approvals/expired", `{"option":"Allow once"}`, 410, "expired"},
		"a note of 1 MB":                       {post, "/v1/approvals/open", `{"option":"Deny","note":"` + long(1<<20) + `"}`, 413, "65536"},
		"a record that is not there":           {get, "/v1/approvals/nobody", "", 404, "no approval"},
		"a record whose id is none":            {get, "/v1/approvals/" + long(200), "", 404, "no approval"},
		"a limit of zero":                      {get, "/v1/approvals?limit=0", "", 400, "1 to 500"},
		"a limit too large":                    {get, "/v1/approvals?limit=501", "", 400, "1 to 500"},
		"a wait without a unit":                {get, "/v1/approvals?wait=30", "", 400, "30s"},
		"a negative wait":                      {get, "/v1/approvals?wait=-1s", "", 400, "30s"},
		"a session id that is too long":        {get, "/v1/approvals?session_id=" + long(513), "", 400, "512"},
		"a parameter that is not known":        {get, "/v1/approvals?session=s1", "", 400, "session_id"},
		"a parameter twice":                    {get, "/v1/approvals?limit=1&limit=2", "", 400, "twice"},
		"a registry where there is none":       {get, "/v1/registry", "", 503, "no registry"},
		"a page of the API that is not one":    {get, "/v1/approval", "", 404, "no GET /v1/approval"},
		"a method that is not served":          {http.MethodDelete, "/v1/approvals/open", "", 404, "no DELETE"},
	} {
		t.Run(name, func(t *testing.T) {
			svc := newMemory()
			for _, q := range []approval.Record{question("open"), decided, expired} {
				svc.ask(q)
			}
			c := open(t, console.Options{Approvals: svc})
			r := ask(c, test.method, test.target, test.body)
			got := decode[refusal](t, r)
			if r.Code != test.code || got.Code != test.code || !strings.Contains(got.Error, test.says) {
				t.Errorf("status %d, body %+v; want %d and %q", r.Code, got, test.code, test.says)
			}
			if d := svc.decision("open"); d != nil {
				t.Errorf("it decided: %+v", d)
			}
		})
	}
}

func TestAnAnswerDecidesInTheNameOfTheToken(t *testing.T) {
	svc := newMemory()
	svc.ask(question("q"))
	c := open(t, console.Options{Approvals: svc})
	r := ask(c, http.MethodPost, "/v1/approvals/q", `{"option":"ALLOW ONCE","by":"ann","note":"fine","data_sha256":"`+question("q").DataSHA256+`"}`)
	want := map[string]string{"status": "accepted", "option": "Allow once"}
	if diff := cmp.Diff(want, decode[map[string]string](t, r)); diff != "" || r.Code != http.StatusOK {
		t.Fatalf("status %d: %s", r.Code, diff)
	}
	d := svc.decision("q")
	if d == nil || !d.Granted || d.DecidedBy != "console token" || d.ClaimedBy != "ann" || d.Note != "fine" {
		t.Errorf("recorded: %+v", d)
	}
}

func TestARecordKeepsItsBytes(t *testing.T) {
	svc := newMemory()
	q := question("q")
	q.Data = []byte(`{"n": 90071992547409931,  "f":1e2, "s":"<&>"}`)
	svc.ask(q)
	c := open(t, console.Options{Approvals: svc})
	got := decode[struct{ Data json.RawMessage }](t, ask(c, http.MethodGet, "/v1/approvals/q", ""))
	if diff := cmp.Diff(string(q.Data), string(got.Data)); diff != "" {
		t.Error(diff)
	}
}

func TestListing(t *testing.T) {
	svc := newMemory()
	other := question("b")
	other.Session = "s2"
	for _, q := range []approval.Record{question("a"), other, question("c")} {
		svc.ask(q)
	}
	c := open(t, console.Options{Approvals: svc})
	for name, test := range map[string]struct {
		query string
		ids   []string
		total int
	}{
		"all, the oldest first": {"", []string{"a", "b", "c"}, 3},
		"one session":           {"?session_id=s2", []string{"b"}, 1},
		"the oldest":            {"?limit=1", []string{"a"}, 3},
		"none":                  {"?session_id=nobody", []string{}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			got := decode[listed](t, ask(c, http.MethodGet, "/v1/approvals"+test.query, ""))
			ids := []string{}
			for _, q := range got.Approvals {
				ids = append(ids, q.ID)
			}
			if diff := cmp.Diff(test.ids, ids); diff != "" || got.Total != test.total || got.Approvals == nil {
				t.Errorf("%d: %s", got.Total, diff)
			}
		})
	}
}

func TestLongPoll(t *testing.T) {
	type answer struct {
		listed
		code int
		took time.Duration
	}
	// poll answers when the request does.
	poll := func(t *testing.T, ctx context.Context, c *console.Console, query string) <-chan answer {
		t.Helper()
		done := make(chan answer, 1)
		began := time.Now()
		go func() {
			r := httptest.NewRequestWithContext(ctx, http.MethodGet, "http://localhost/v1/approvals"+query, http.NoBody)
			r.Header.Set("Authorization", right)
			w := httptest.NewRecorder()
			c.Handler().ServeHTTP(w, r)
			a := answer{code: w.Code, took: time.Since(began)}
			_ = json.Unmarshal(w.Body.Bytes(), &a.listed)
			done <- a
		}()
		return done
	}
	for name, test := range map[string]struct {
		query  string // after the cursor
		during func(*memory, *console.Console, context.CancelFunc)
		took   time.Duration
		code   int
		total  int
	}{
		"wakes when something is asked":           {"&wait=30s", func(m *memory, _ *console.Console, _ context.CancelFunc) { m.ask(question("new")) }, 5 * time.Second, 200, 2},
		"wakes when something is decided":         {"&wait=30s", func(m *memory, _ *console.Console, _ context.CancelFunc) { m.decide("old") }, 5 * time.Second, 200, 0},
		"sleeps through other sessions":           {"&wait=30s&session_id=s1", func(m *memory, _ *console.Console, _ context.CancelFunc) { m.ask(elsewhere()) }, 30 * time.Second, 200, 1},
		"ends with its time":                      {"&wait=30s", func(*memory, *console.Console, context.CancelFunc) {}, 30 * time.Second, 200, 1},
		"waits a minute at most":                  {"&wait=24h", func(*memory, *console.Console, context.CancelFunc) {}, time.Minute, 200, 1},
		"answers at once without wait":            {"", func(*memory, *console.Console, context.CancelFunc) {}, 0, 200, 1},
		"ends with the client":                    {"&wait=30s", func(_ *memory, _ *console.Console, cancel context.CancelFunc) { cancel() }, 5 * time.Second, 200, 0},
		"ends when the console closes":            {"&wait=30s", func(_ *memory, c *console.Console, _ context.CancelFunc) { c.Close() }, 5 * time.Second, 503, 0},
		"ends when notices were lost, and listed": {"&wait=30s", func(m *memory, _ *console.Console, _ context.CancelFunc) { m.askSilently(question("new")) }, 5 * time.Second, 200, 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				svc := newMemory()
				svc.ask(question("old"))
				c := open(t, console.Options{Approvals: svc})
				first := <-poll(t, t.Context(), c, "?wait=30s")
				if first.took != 0 || first.Total != 1 {
					t.Fatalf("without a cursor: %+v", first)
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				done := poll(t, ctx, c, "?after="+first.Cursor+test.query)
				timer := time.AfterFunc(5*time.Second, func() { test.during(svc, c, cancel) })
				defer timer.Stop()
				got := <-done
				if got.took != test.took || got.code != test.code || got.Total != test.total {
					t.Errorf("%d after %v with %d in all; want %d after %v with %d", got.code, got.took, got.Total, test.code, test.took, test.total)
				}
			})
		})
	}
}

func TestACursorOfTheFormerListIsAnsweredAtOnce(t *testing.T) {
	svc := newMemory()
	c := open(t, console.Options{Approvals: svc})
	before := decode[listed](t, ask(c, http.MethodGet, "/v1/approvals", ""))
	svc.ask(question("q"))
	// Another console, as another replica has one.
	got := decode[listed](t, ask(open(t, console.Options{Approvals: svc}), http.MethodGet, "/v1/approvals?wait=1m&after="+before.Cursor, ""))
	if got.Total != 1 || got.Cursor == before.Cursor {
		t.Errorf("got %+v", got)
	}
}

func TestLongPollsAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(t, console.Options{Approvals: newMemory()})
		cursor := decode[listed](t, ask(c, http.MethodGet, "/v1/approvals", "")).Cursor
		codes := make(chan int, 300)
		for range 300 {
			go func() { codes <- ask(c, http.MethodGet, "/v1/approvals?wait=1m&after="+cursor, "").Code }()
		}
		got := map[int]int{}
		for range 300 {
			got[<-codes]++
		}
		if diff := cmp.Diff(map[int]int{200: 256, 503: 44}, got); diff != "" {
			t.Error(diff)
		}
	})
}

func TestRegistryIsPassedOn(t *testing.T) {
	const text = `[{"id":"a","priority":90071992547409931}]`
	c := open(t, console.Options{Approvals: newMemory(), Registry: func(context.Context) ([]byte, error) { return []byte(text), nil }})
	if got := string(decode[json.RawMessage](t, ask(c, http.MethodGet, "/v1/registry", ""))); got != text {
		t.Errorf("got %s", got)
	}
}

func TestErrors(t *testing.T) {
	for name, test := range map[string]struct {
		err  error
		code int
		says string
	}{
		"a refusal keeps its code and text":       {wire.Errorf(wire.Unavailable, "storage does not answer"), 503, "storage does not answer"},
		"another error tells nothing":             {errors.New("secret path /srv"), 500, "the router failed; its log says why"},
		"a refusal without an HTTP code is a 500": {wire.Errorf(7, "odd"), 500, "the router failed; its log says why"},
	} {
		t.Run(name, func(t *testing.T) {
			svc := newMemory()
			svc.ask(question("q"))
			svc.fails = test.err
			c := open(t, console.Options{Approvals: svc})
			for _, target := range []string{"/v1/approvals", "/v1/approvals/q"} {
				got := decode[refusal](t, ask(c, http.MethodGet, target, ""))
				if diff := cmp.Diff(refusal{test.says, test.code}, got); diff != "" {
					t.Errorf("%s: %s", target, diff)
				}
			}
		})
	}
}

// FuzzAnswer: no body decides but one whose option was offered.
func FuzzAnswer(f *testing.F) {
	for _, body := range []string{
		`{"option":"Allow once"}`, `{"option":"deny","note":"x"}`, `{"option":1}`, `{"error":"down"}`, `{"option":"Deny","option":"Allow once"}`,
		`{"free_text":true,"option":"sure"}`, "{\"option\":\"Deny\"}\x00", `[]`, `null`, "\xff", `{"OPTION":"Deny"}`,
	} {
		f.Add(body)
	}
	svc := newMemory()
	c := console.New(console.Options{Approvals: svc, Token: token})
	f.Cleanup(c.Close)
	f.Fuzz(func(t *testing.T, body string) {
		svc.reset(question("q"))
		r := ask(c, http.MethodPost, "/v1/approvals/q", body)
		d := svc.decision("q")
		if (r.Code == http.StatusOK) != (d != nil) || r.Code >= 500 {
			t.Fatalf("status %d, decided %+v", r.Code, d)
		}
		if d == nil {
			return
		}
		var answer approval.Answer
		if err := json.Unmarshal([]byte(body), &answer); err != nil {
			t.Fatalf("what is no JSON decided %+v", d)
		}
		if d.Granted != (answer.Error == "" && approval.Grants(answer.Option)) {
			t.Fatalf("%+v decided %+v", answer, d)
		}
	})
}
