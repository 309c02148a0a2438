package console_test

import (
	"fmt"
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

// session gets the cookie as a browser does, by the address with the token.
func session(t *testing.T, c *console.Console) *http.Cookie {
	t.Helper()
	r := ask(c, http.MethodGet, "/?token="+token, "", "Authorization", "")
	cookie, err := http.ParseSetCookie(r.Header().Get("Set-Cookie"))
	if r.Code != http.StatusSeeOther || r.Header().Get("Location") != "/" || err != nil {
		t.Fatalf("status %d, headers %v", r.Code, r.Header())
	}
	return cookie
}

func TestTheTokenBecomesACookie(t *testing.T) {
	c := open(t, console.Options{Approvals: newMemory()})
	cookie := session(t, c)
	if !cookie.HttpOnly || cookie.SameSite != http.SameSiteStrictMode || cookie.Path != "/" || cookie.Secure || strings.Contains(cookie.Value, token) {
		t.Errorf("cookie %+v", cookie)
	}
	for target, says := range map[string]string{"/": `id="ask"`, "/v1/approvals": `"total":0`} {
		r := ask(c, http.MethodGet, target, "", "Authorization", "", "Cookie", cookie.Name+"="+cookie.Value)
		if r.Code != http.StatusOK || !strings.Contains(r.Body.String(), says) {
			t.Errorf("%s with the cookie: status %d", target, r.Code)
		}
	}
}

func TestTheCookieIsSecureOverTLS(t *testing.T) {
	c := open(t, console.Options{Approvals: newMemory()})
	server := httptest.NewTLSServer(c.Handler())
	defer server.Close()
	client := server.Client()
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	r, err := client.Get(server.URL + "/?token=" + token)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if len(r.Cookies()) != 1 || !r.Cookies()[0].Secure {
		t.Errorf("status %d, cookies %v", r.StatusCode, r.Cookies())
	}
}

func TestSessionsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(t, console.Options{Approvals: newMemory()})
		cookie := session(t, c)
		end, signature, _ := strings.Cut(cookie.Value, ".")
		code := func(value string) int {
			return ask(c, http.MethodGet, "/v1/approvals", "", "Authorization", "", "Cookie", cookie.Name+"="+value).Code
		}
		got := map[string]int{
			"at first": code(cookie.Value), "with a later end": code("9" + end + "." + signature),
			"without a signature": code(end), "empty": code(""),
		}
		time.Sleep(7*24*time.Hour - time.Second) //nolint:forbidigo // on the fake clock
		got["on the last day"] = code(cookie.Value)
		time.Sleep(2 * time.Second) //nolint:forbidigo // on the fake clock
		got["after a week"] = code(cookie.Value)
		want := map[string]int{
			"at first": 200, "with a later end": 401, "without a signature": 401, "empty": 401,
			"on the last day": 200, "after a week": 401,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

func TestReplicasWithTheSameTokenShareSessions(t *testing.T) {
	cookie := session(t, open(t, console.Options{Approvals: newMemory()}))
	r := ask(open(t, console.Options{Approvals: newMemory()}), http.MethodGet, "/", "", "Authorization", "", "Cookie", cookie.Name+"="+cookie.Value)
	if r.Code != http.StatusOK {
		t.Errorf("status %d", r.Code)
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
	s := session(t, c)
	cookie := s.Name + "=" + s.Value
	const get, post, decide = http.MethodGet, http.MethodPost, "/v1/approvals/nobody" // 404 where it is let through
	for name, test := range map[string]struct {
		method, target string
		headers        []string
		code           int
	}{
		"the token":                                 {get, "/v1/approvals", nil, 200},
		"no token":                                  {get, "/v1/approvals", []string{"Authorization", ""}, 401},
		"another scheme":                            {get, "/v1/approvals", []string{"Authorization", "Basic " + token}, 401},
		"a wrong token beside the cookie":           {get, "/v1/approvals", []string{"Authorization", "Bearer wrong", "Cookie", cookie}, 401},
		"no token for a WebSocket":                  {get, "/v1/events", []string{"Authorization", ""}, 401},
		"no token for what is not there":            {get, "/v1/nothing", []string{"Authorization", ""}, 401},
		"the page without a token":                  {get, "/", []string{"Authorization", ""}, 401},
		"the page with a wrong token":               {get, "/?token=wrong", []string{"Authorization", ""}, 401},
		"an asset without a token":                  {get, "/assets/app.js", []string{"Authorization", ""}, 200},
		"an asset that is not there":                {get, "/assets/app.ts", nil, 404},
		"another page":                              {get, "/other", nil, 404},
		"a POST with the token":                     {post, decide, nil, 404},
		"a POST with the cookie, of our page":       {post, decide, []string{"Authorization", "", "Cookie", cookie, "Origin", "http://localhost:8080"}, 404},
		"a POST with the cookie, from nowhere":      {post, decide, []string{"Authorization", "", "Cookie", cookie}, 403},
		"a POST with the cookie, of another page":   {post, decide, []string{"Authorization", "", "Cookie", cookie, "Origin", "http://evil.example"}, 403},
		"a POST with the cookie, of another port":   {post, decide, []string{"Authorization", "", "Cookie", cookie, "Origin", "http://localhost:9090"}, 403},
		"a POST with the cookie, of a hidden page":  {post, decide, []string{"Authorization", "", "Cookie", cookie, "Origin", "null"}, 403},
		"a POST with the token, of another page":    {post, decide, []string{"Origin", "http://evil.example"}, 403},
		"a WebSocket with the token, of another":    {get, "/v1/events", []string{"Upgrade", "websocket", "Origin", "http://evil.example"}, 403},
		"a WebSocket with the cookie, from nowhere": {get, "/v1/events", []string{"Upgrade", "websocket", "Authorization", "", "Cookie", cookie}, 403},
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
func guess(c *console.Console, from, token string) int {
	r := httptest.NewRequest(http.MethodGet, "http://localhost/v1/approvals", http.NoBody)
	r.RemoteAddr = from
	r.Header.Set("Authorization", "Bearer "+token)
	w := httptest.NewRecorder()
	c.Handler().ServeHTTP(w, r)
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
			"the eleventh": guess(c, "192.0.2.1:2000", "wrong"), "even the right one": guess(c, "192.0.2.1:2000", token),
			"by the page's address": ask(c, http.MethodGet, "/?token="+token, "", "Authorization", "").Code,
			"another address":       guess(c, "192.0.2.2:1000", token),
		}
		time.Sleep(time.Minute) //nolint:forbidigo // on the fake clock
		got["a minute later"] = guess(c, "192.0.2.1:2000", token)
		for i := range 12 {
			got["a neighbour in a /64"] = guess(c, fmt.Sprintf("[2001:db8::%d]:1000", i+1), "wrong")
		}
		want := map[string]int{
			"the eleventh": 429, "even the right one": 429, "by the page's address": 429, "another address": 200,
			"a minute later": 200, "a neighbour in a /64": 429,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

func TestRefusalsSayWhatToDo(t *testing.T) {
	c := open(t, console.Options{Approvals: newMemory()})
	for range 10 {
		ask(c, http.MethodGet, "/v1/approvals", "", "Authorization", "Bearer wrong")
	}
	for says, headers := range map[string][]string{
		`not served as "console.example:8080": if that name is yours, start hook-router with --console-hosts console.example:8080;`: {"Host", "console.example:8080"},
		"until the minute is over, the right one is refused too":                                                                    nil,
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
		c := open(t, console.Options{Approvals: newMemory()})
		many := func(net int) (last int) {
			for i := range 10000 {
				last = guess(c, fmt.Sprintf("10.%d.%d.%d:99", net, i/256, i%256), "wrong")
			}
			return last
		}
		if code := many(1); code != 429 {
			t.Errorf("addresses beyond the limit count as one, but the last got %d", code)
		}
		time.Sleep(time.Minute) //nolint:forbidigo // on the fake clock
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		many(2)
		runtime.GC()
		runtime.ReadMemStats(&after)
		if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 512<<10 {
			t.Errorf("10,000 addresses took %d bytes", grown)
		}
	})
}
