package console_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/internal/api/console"
)

// session opens one as the page does.
func session(t *testing.T, c *console.Console, token string) string {
	t.Helper()
	r := ask(c, http.MethodPost, "/v1/session", "", "Authorization", "Bearer "+token)
	if r.Code != http.StatusOK {
		t.Fatalf("status %d: %s", r.Code, r.Body)
	}
	return decode[struct{ Session string }](t, r).Session
}

// Cookies know no ports: what else listens on the host would get them.
func TestConsoleSetsNoCookie(t *testing.T) {
	c := open(t, console.Options{Approvals: newMemory()})
	for _, target := range []string{"/", "/?token=" + token, "/denied", "/v1/session", "/v1/approvals"} {
		method := http.MethodGet
		if target == "/v1/session" {
			method = http.MethodPost
		}
		r := ask(c, method, target, "")
		if r.Code != http.StatusOK || r.Header().Get("Set-Cookie") != "" || strings.Contains(r.Body.String(), token) {
			t.Errorf("%s: status %d, headers %v", target, r.Code, r.Header())
		}
	}
}

func TestSessionsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(t, console.Options{Approvals: newMemory()})
		one := session(t, c, token)
		first, rest, _ := strings.Cut(one, ".")
		code := func(session string) int {
			return ask(c, http.MethodGet, "/v1/approvals", "", "Authorization", "Bearer "+session).Code
		}
		got := map[string]int{
			"at first": code(one), "with a later end": code("9" + first + "." + rest), "without a signature": code(one[:strings.LastIndex(one, ".")]),
			"to open another": ask(c, http.MethodPost, "/v1/session", "", "Authorization", "Bearer "+one).Code,
			"of another router": ask(func() *console.Console {
				other := console.New(console.Options{Approvals: newMemory()})
				t.Cleanup(other.Close)
				return other
			}(), http.MethodGet, "/v1/approvals", "", "Authorization", "Bearer "+one).Code,
			"of another replica": ask(open(t, console.Options{Approvals: newMemory()}), http.MethodGet, "/v1/approvals", "", "Authorization", "Bearer "+one).Code,
		}
		time.Sleep(12*time.Hour - time.Second) //nolint:forbidigo // on the fake clock
		got["in the last second"] = code(one)
		time.Sleep(2 * time.Second) //nolint:forbidigo // on the fake clock
		got["after half a day"] = code(one)
		want := map[string]int{
			"at first": 200, "with a later end": 401, "without a signature": 401, "to open another": 401, "of another router": 401, "of another replica": 200,
			"in the last second": 200, "after half a day": 401,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

// Answers are recorded under the name that the token is of, not under one that is claimed.
func TestPeopleHaveNames(t *testing.T) {
	svc := newMemory()
	one, people, err := console.ParseTokens("ann:" + long(30) + "," + token + ",bob@example.org:" + long(31))
	if err != nil || one != token || len(people) != 2 {
		t.Fatal(one, people, err)
	}
	c := console.New(console.Options{Approvals: svc, Token: one, People: people})
	t.Cleanup(c.Close)
	for id, by := range map[string]struct{ bearer, want string }{
		"a": {long(30), "console ann"}, "b": {session(t, c, long(31)), "console bob@example.org"}, "c": {token, "console token"},
	} {
		svc.ask(question(id))
		if r := ask(c, http.MethodPost, "/v1/approvals/"+id, `{"option":"Deny","by":"eve"}`, "Authorization", "Bearer "+by.bearer); r.Code != http.StatusOK {
			t.Fatalf("status %d: %s", r.Code, r.Body)
		}
		if d := svc.decision(id); d == nil || d.DecidedBy != by.want {
			t.Errorf("%s: decided %+v; want %s", id, d, by.want)
		}
	}
	for _, bad := range []string{"ann:short", "ann:" + long(30) + ",ann:" + long(31), "ann:" + long(30) + ",bob:" + long(30), long(30) + "," + long(31), "token:" + long(30)} {
		if _, _, err := console.ParseTokens(bad); err == nil || strings.Contains(err.Error(), long(30)) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

func TestATokenIsMadeWhereNoneIsGiven(t *testing.T) {
	a, b := console.New(console.Options{Approvals: newMemory()}), console.New(console.Options{Approvals: newMemory()})
	defer a.Close()
	defer b.Close()
	if len(a.Token()) != 43 || a.Token() == b.Token() || console.CheckToken(a.Token()) != nil {
		t.Errorf("made %q and %q", a.Token(), b.Token())
	}
	for _, bad := range []string{"", "short", long(21), long(30) + " ", long(30) + "é"} {
		if console.CheckToken(bad) == nil {
			t.Errorf("%q is fit", bad)
		}
	}
}

func TestAccess(t *testing.T) {
	c := open(t, console.Options{Approvals: newMemory(), Hosts: []string{"console.example", "other.example:8443"}})
	inPage := "Bearer " + session(t, c, token)
	const get, post, decide = http.MethodGet, http.MethodPost, "/v1/approvals/nobody" // 404 where it is let through
	for name, test := range map[string]struct {
		method, target string
		headers        []string
		code           int
	}{
		"the token":                                 {get, "/v1/approvals", nil, 200},
		"no token":                                  {get, "/v1/approvals", []string{"Authorization", ""}, 401},
		"another scheme":                            {get, "/v1/approvals", []string{"Authorization", "Basic " + token}, 401},
		"no token for a WebSocket":                  {get, "/v1/events", []string{"Authorization", ""}, 401},
		"no token for what is not there":            {get, "/v1/nothing", []string{"Authorization", ""}, 401},
		"the page, which is public":                 {get, "/", []string{"Authorization", ""}, 200},
		"a session":                                 {get, "/v1/approvals", []string{"Authorization", inPage}, 200},
		"a session without a token":                 {post, "/v1/session", []string{"Authorization", ""}, 401},
		"a POST of the page":                        {post, decide, []string{"Authorization", inPage, "Origin", "http://localhost:8080"}, 404},
		"a POST of another page":                    {post, decide, []string{"Authorization", inPage, "Origin", "http://evil.example"}, 403},
		"a POST of another port":                    {post, decide, []string{"Authorization", inPage, "Origin", "http://localhost:9090"}, 403},
		"a POST of a hidden page":                   {post, decide, []string{"Authorization", inPage, "Origin", "null"}, 403},
		"an asset without a token":                  {get, "/assets/app.js", []string{"Authorization", ""}, 200},
		"an asset that is not there":                {get, "/assets/app.ts", nil, 404},
		"another page":                              {get, "/other", nil, 404},
		"a POST with the token":                     {post, decide, nil, 404},
		"a POST with the token, of another page":    {post, decide, []string{"Origin", "http://evil.example"}, 403},
		"a WebSocket with the token, of another":    {get, "/v1/events", []string{"Upgrade", "websocket", "Origin", "http://evil.example"}, 403},
		"under an address of this machine":          {get, "/v1/approvals", []string{"Host", "127.0.0.2:80"}, 200},
		"under the IPv6 address of this machine":    {get, "/v1/approvals", []string{"Host", "[::1]:80"}, 200},
		"under a name that was allowed":             {get, "/v1/approvals", []string{"Host", "Console.Example:1234"}, 200},
		"under a name that was allowed with a port": {get, "/v1/approvals", []string{"Host", "other.example:8443"}, 200},
		"under that name with another port":         {get, "/v1/approvals", []string{"Host", "other.example"}, 421},
		"under a foreign name":                      {get, "/v1/approvals", []string{"Host", "evil.example:8080"}, 421},
		"under a name that begins like ours":        {get, "/v1/approvals", []string{"Host", "localhost.evil.example"}, 421},
		"the page under a foreign name":             {get, "/?token=" + token, []string{"Host", "evil.example"}, 421},
		"an asset under a foreign name":             {get, "/assets/app.js", []string{"Host", "evil.example"}, 421},
		"under no name":                             {get, "/v1/approvals", []string{"Host", ""}, 421},
	} {
		t.Run(name, func(t *testing.T) {
			r := ask(c, test.method, test.target, `{"option":"Deny"}`, test.headers...)
			if r.Code != test.code {
				t.Errorf("status %d, want %d: %s", r.Code, test.code, r.Body)
			}
			for header, want := range map[string]string{
				"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer",
				"Cross-Origin-Opener-Policy": "same-origin",
			} {
				if got := r.Header().Get(header); got != want {
					t.Errorf("%s: %q", header, got)
				}
			}
			if csp := r.Header().Get("Content-Security-Policy"); !strings.HasPrefix(csp, "default-src 'none'; script-src 'self';") || strings.Contains(csp, "unsafe") {
				t.Errorf("the policy is %q", csp)
			}
			if r.Code != http.StatusNotFound && r.Header().Get("Cache-Control") != "no-store" {
				t.Errorf("it may be stored: %q", r.Header().Get("Cache-Control"))
			}
			if strings.Contains(fmt.Sprint(r.Header()), token) {
				t.Error("the token stands in a header")
			}
		})
	}
}

func TestTheAddressOfTheListenerIsAName(t *testing.T) {
	c := open(t, console.Options{Approvals: newMemory()})
	server := httptest.NewServer(c.Handler())
	defer server.Close()
	for host, want := range map[string]int{server.Listener.Addr().String(): 200, "192.0.2.1:80": 421} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/assets/app.css", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = host
		answer, err := server.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("%s: status %d, want %d", host, answer.StatusCode, want)
		}
	}
}

// guess sends a wrong token, or another, from an address.
func guess(c *console.Console, from, token string) int { return guessAt(c.Handler(), from, token) }

func guessAt(handler http.Handler, from, token string) int {
	r := httptest.NewRequest(http.MethodGet, "http://localhost/v1/approvals", http.NoBody)
	r.RemoteAddr = from
	r.Header.Set("Authorization", "Bearer "+token)
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	return w.Code
}

func TestWrongTokensAreThrottled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(t, console.Options{Approvals: newMemory()})
		for i := range 10 {
			if code := guess(c, fmt.Sprintf("192.0.2.1:%d", 1000+i), "wrong"); code != 401 {
				t.Fatalf("guess %d: status %d", i+1, code)
			}
		}
		got := map[string]int{
			"the eleventh": guess(c, "192.0.2.1:2000", "wrong"), "the right one": guess(c, "192.0.2.1:2000", token),
			"another address": guess(c, "192.0.2.2:1000", "wrong"),
		}
		time.Sleep(time.Minute) //nolint:forbidigo // on the fake clock
		got["a minute later"] = guess(c, "192.0.2.1:2000", "wrong")
		for i := range 12 {
			got["a neighbour in a /64"] = guess(c, fmt.Sprintf("[2001:db8::%d]:1000", i+1), "wrong")
		}
		want := map[string]int{
			"the eleventh": 429, "the right one": 200, "another address": 401, "a minute later": 401, "a neighbour in a /64": 429,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

func TestAFloodOfWrongTokensIsNotLogged(t *testing.T) {
	var log strings.Builder
	c := open(t, console.Options{Approvals: newMemory(), Log: slog.New(slog.NewTextHandler(&log, nil))})
	for range 100 {
		guess(c, "192.0.2.1:1000", "wrong")
	}
	if n := strings.Count(log.String(), "\n"); n != 10 {
		t.Errorf("%d lines, want those of the ten that are counted", n)
	}
}

func TestRefusalsSayWhatToDo(t *testing.T) {
	c := open(t, console.Options{Approvals: newMemory()})
	for range 10 {
		ask(c, http.MethodGet, "/v1/approvals", "", "Authorization", "Bearer wrong")
	}
	for says, headers := range map[string][]string{
		`not served as "console.example:8080": if that name is yours, start hook-router with --console-hosts console.example:8080;`: {"Host", "console.example:8080"},
		"too many wrong tokens from this address": {"Authorization", "Bearer wrong"},
	} {
		r := ask(c, http.MethodGet, "/v1/approvals", "", headers...)
		if text := decode[struct{ Error string }](t, r).Error; !strings.Contains(text, says) {
			t.Errorf("status %d: %s\nwant %s", r.Code, text, says)
		}
	}
}

func TestRightTokensAreNotThrottled(t *testing.T) {
	c := open(t, console.Options{Approvals: newMemory()})
	for range 30 {
		if code := guess(c, "192.0.2.1:1000", token); code != 200 {
			t.Fatalf("status %d", code)
		}
	}
}

func TestThrottlingTakesBoundedMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		handler := open(t, console.Options{Approvals: newMemory()}).Handler()
		many := func(net, n int) (last int) {
			for i := range n {
				last = guessAt(handler, fmt.Sprintf("10.%d.%d.%d:99", net, i/256, i%256), "wrong")
			}
			return last
		}
		if code := many(1, 2000); code != 429 {
			t.Errorf("addresses beyond the limit count as one, but the last got %d", code)
		}
		time.Sleep(time.Minute) //nolint:forbidigo // on the fake clock
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		many(2, 10_000)
		runtime.GC()
		runtime.ReadMemStats(&after)
		if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 512<<10 {
			t.Errorf("10,000 addresses took %d bytes", grown)
		}
	})
}
