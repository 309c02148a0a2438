package web_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookrouter/hookrouter/internal/api/web"
	"github.com/hookrouter/hookrouter/internal/wire"
)

func TestServedAs(t *testing.T) {
	local := &net.TCPAddr{IP: net.IPv4(192, 0, 2, 7), Port: 8080}
	for host, want := range map[string]bool{
		"localhost": true, "LOCALHOST:1": true, "127.0.0.1:8080": true, "[::1]:8080": true, "127.8.8.8": true,
		"192.0.2.7:8080": true, "192.0.2.7:9090": false, "192.0.2.8:8080": false,
		"hooks.example": true, "hooks.example:443": true, "only.example:8443": true, "only.example:8444": false,
		"evil.example": false, "127.0.0.1.evil.example": false, "localhost.evil.example": false, "": false,
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Host = host
		r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, net.Addr(local)))
		if got := web.ServedAs(r, []string{"hooks.example", "only.example:8443"}); got != want {
			t.Errorf("%q: %v, want %v", host, got, want)
		}
	}
}

func TestCheckHost(t *testing.T) {
	page := web.CheckHost([]string{"hooks.example"}, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	for _, c := range []struct {
		local net.IP
		host  string
		want  int
	}{
		{net.IPv4(127, 0, 0, 1), "evil.example", 421},
		{net.IPv6loopback, "evil.example:8080", 421},
		{net.IPv4(127, 0, 0, 1), "localhost", 200},
		{net.IPv4(127, 0, 0, 1), "hooks.example", 200},
		{net.IPv4(127, 0, 0, 1), "192.0.2.7:8080", 200},
		{net.IPv4(127, 0, 0, 1), "[2001:db8::1]", 200},
		{net.IPv4(192, 0, 2, 7), "router.hooks.svc", 200},
	} {
		r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
		r.Host = c.host
		r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, net.Addr(&net.TCPAddr{IP: c.local, Port: 8080})))
		w := httptest.NewRecorder()
		if page.ServeHTTP(w, r); w.Code != c.want {
			t.Errorf("%s at %s: %d, want %d", c.host, c.local, w.Code, c.want)
		}
	}
}

func TestWrongTokensOfAnAddressAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var limit web.Throttle
		code := func(remote string) int { return wire.CodeOf(limit.Wrong(remote, "wrong")) }
		for i := range 10 {
			if got := code("192.0.2.1:1"); got != http.StatusUnauthorized {
				t.Fatalf("wrong token %d: %d", i, got)
			}
		}
		for remote, want := range map[string]int{
			"192.0.2.1:2": 429, "[::ffff:192.0.2.1]:3": 429, "192.0.2.2:1": 401,
		} {
			if got := code(remote); got != want {
				t.Errorf("%s: %d, want %d", remote, got, want)
			}
		}
		for i := range 11 { // one sender has as many addresses as it likes there
			if got, last := code(fmt.Sprintf("[2001:db8::%x]:1", i)), i == 10; (got == 429) != last {
				t.Errorf("address %d of a network: %d", i, got)
			}
		}
		time.Sleep(web.WrongWindow) //nolint:forbidigo // on the fake clock
		if got := code("192.0.2.1:1"); got != http.StatusUnauthorized {
			t.Errorf("a minute later: %d", got)
		}
	})
}

func TestManyAddressesTakeNoMoreMemory(t *testing.T) {
	var limit web.Throttle
	refused := 0
	for i := range 4096 {
		if wire.CodeOf(limit.Wrong(fmt.Sprintf("10.0.%d.%d:1", i>>8, i&255), "wrong")) == http.StatusTooManyRequests {
			refused++
		}
	}
	if want := 4096 - 1024 - 10; refused != want { // those beyond the limit count as one
		t.Errorf("%d refused, want %d", refused, want)
	}
}

func TestClipCutsBetweenCharacters(t *testing.T) {
	long := "x" + strings.Repeat("é", 100)
	for text, want := range map[string]string{"": "", "GET": "GET", long: "x" + strings.Repeat("é", 39) + "..."} {
		if got := web.Clip(text); got != want {
			t.Errorf("Clip(%q) = %q; want %q", text, got, want)
		}
	}
}

func TestRefuse(t *testing.T) {
	var log strings.Builder
	for _, c := range []struct {
		err          error
		code         int
		text, header string
	}{
		{wire.Errorf(wire.Malformed, "no event"), 400, `{"error":"no event","code":400}`, ""},
		{wire.Errorf(http.StatusUnauthorized, "no token"), 401, `{"error":"no token","code":401}`, "Www-Authenticate"},
		{wire.Errorf(http.StatusTooManyRequests, "too many"), 429, `{"error":"too many","code":429}`, "Retry-After"},
		{errors.New("secret"), 500, `{"error":"the router failed; its log says why","code":500}`, ""},
		{wire.Errorf(200, "fine"), 500, `{"error":"the router failed; its log says why","code":500}`, ""},
	} {
		w := httptest.NewRecorder()
		code := web.Refuse(w, slog.New(slog.NewTextHandler(&log, nil)), "/v1/x", c.err)
		if code != c.code || w.Code != c.code || strings.TrimSpace(w.Body.String()) != c.text || c.header != "" && w.Header().Get(c.header) == "" {
			t.Errorf("%v: %d %d %s %v", c.err, code, w.Code, w.Body, w.Header())
		}
	}
	if !strings.Contains(log.String(), "secret") || !strings.Contains(log.String(), "/v1/x") {
		t.Errorf("the log says %q", log.String())
	}
}

func TestHealth(t *testing.T) {
	for reason, want := range map[string]struct {
		code int
		body string
	}{
		"":                     {http.StatusOK, `{"status":"ok"}`},
		`no "lease" right now`: {http.StatusServiceUnavailable, `{"status":"unavailable","reason":"no \"lease\" right now"}`},
	} {
		w := httptest.NewRecorder()
		web.Health(w, reason)
		if got := strings.TrimSpace(w.Body.String()); w.Code != want.code || got != want.body || w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%q: %d %s, %v; want %d %s", reason, w.Code, got, w.Header(), want.code, want.body)
		}
	}
}
