package console_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/internal/api/console"
	"github.com/hookrouter/hookrouter/internal/freeze"
)

// freezer keeps what it is told to freeze.
type freezer struct {
	mu     sync.Mutex // guards orders
	orders []freeze.Order
}

func (f *freezer) Freeze(_ context.Context, o freeze.Order) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.orders = append(f.orders, o)
	return nil
}

func (f *freezer) Freezes() ([]freeze.Order, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.orders, nil
}

func TestFreezingNeedsItsOwnPermission(t *testing.T) {
	f := &freezer{}
	people := []console.Person{{Name: "ann", Token: long(30)}, {Name: "bob", Token: long(31)}}
	c := open(t, console.Options{Approvals: newMemory(), Freezer: f, People: people, MayFreeze: []string{"ann"}})
	const body = `{"agent":"coder","reason":"it loops"}`
	type answer struct {
		Code int
		May  bool
	}
	got := map[string]answer{}
	for who, given := range map[string]string{"who has the token": token, "ann": long(30), "bob": long(31), "nobody": "wrong"} {
		frozen := decode[struct {
			May bool `json:"may_freeze"`
		}](t, ask(c, http.MethodGet, "/v1/freeze", "", "Authorization", "Bearer "+given))
		got[who] = answer{ask(c, http.MethodPost, "/v1/freeze", body, "Authorization", "Bearer "+given).Code, frozen.May}
	}
	want := map[string]answer{"who has the token": {200, true}, "ann": {200, true}, "bob": {403, false}, "nobody": {401, false}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(f.orders) != 2 || f.orders[0].Agent != "coder" || f.orders[0].Reason != "it loops" || f.orders[0].By == "" {
		t.Errorf("orders: %+v", f.orders)
	}
}

func TestAnOrderNamesOneThingAndAReason(t *testing.T) {
	f := &freezer{}
	c := open(t, console.Options{Approvals: newMemory(), Freezer: f})
	for _, body := range []string{
		``, `null`, `[]`, `{}`, `{"all":true}`, `{"reason":"x"}`, `{"all":true,"agent":"a","reason":"x"}`, `{"agent":"a","session_id":"s","reason":"x"}`,
		`{"all":true,"reason":"x","by":"somebody"}`, `{"all":true,"reason":"a\nb"}`, `{"all":true,"all":false,"agent":"a","reason":"x"}`, `{"all":"yes","reason":"x"}`,
	} {
		if r := ask(c, http.MethodPost, "/v1/freeze", body); r.Code != http.StatusBadRequest {
			t.Errorf("%s: status %d: %s", body, r.Code, r.Body)
		}
	}
	if r := ask(c, http.MethodPost, "/v1/freeze", `{"all":true,"reason":"x"}`, "Origin", "http://localhost:3000"); r.Code != http.StatusForbidden {
		t.Errorf("from another page: status %d", r.Code)
	}
	if len(f.orders) != 0 {
		t.Errorf("orders: %+v", f.orders)
	}
	without := open(t, console.Options{Approvals: newMemory()})
	if r := ask(without, http.MethodPost, "/v1/freeze", `{"all":true,"reason":"x"}`); r.Code != http.StatusServiceUnavailable {
		t.Errorf("without a freezer: status %d", r.Code)
	}
}

// The header of a proxy counts where the proxy's token comes with it, and nowhere else.
func TestAProxyNamesItsUsers(t *testing.T) {
	people := []console.Person{{Name: "proxy", Token: long(40)}, {Name: "ann", Token: long(30)}}
	c := open(t, console.Options{Approvals: newMemory(), People: people, ProxyHeader: "X-Forwarded-User"})
	opened := func(token string, names ...string) (code int, who string) {
		r := httptest.NewRequest(http.MethodPost, "http://localhost:8080/v1/session", nil)
		r.Header.Set("Authorization", "Bearer "+token)
		for _, name := range names {
			r.Header.Add("X-Forwarded-User", name)
		}
		w := httptest.NewRecorder()
		c.Handler().ServeHTTP(w, r)
		return w.Code, decode[struct{ Who string }](t, w).Who
	}
	for what, c := range map[string]struct {
		token string
		names []string
		code  int
		who   string
	}{
		"its user":                   {long(40), []string{"eve@example.org"}, 200, "console eve@example.org"},
		"no user":                    {long(40), nil, 403, ""},
		"two users":                  {long(40), []string{"eve", "ann"}, 403, ""},
		"a name that is none":        {long(40), []string{"e v e"}, 403, ""},
		"a name with a line's end":   {long(40), []string{"eve\n"}, 403, ""},
		"the proxy's own name":       {long(40), []string{"proxy"}, 403, ""},
		"the nameless token's name":  {long(40), []string{"token"}, 403, ""},
		"a person who claims to be":  {long(30), []string{"eve"}, 200, "console ann"},
		"an operator who claims":     {token, []string{"eve"}, 200, console.Who},
		"somebody without the token": {"wrong", []string{"eve"}, 401, ""},
	} {
		if code, who := opened(c.token, c.names...); code != c.code || who != c.who {
			t.Errorf("%s: status %d as %q, want %d as %q", what, code, who, c.code, c.who)
		}
	}
}

func TestAPersonFreezesInTheBrowser(t *testing.T) {
	ctx := browser(t)
	f := &freezer{}
	c := open(t, console.Options{Approvals: newMemory(), Freezer: f, People: []console.Person{{Name: "bob", Token: long(31)}}})
	server := httptest.NewServer(c.Handler())
	defer server.Close()
	do(t, ctx, chromedp.Navigate(server.URL+"/#token="+c.Token()), holds(linked), holds(`!document.getElementById("freeze-open").hidden`),
		run(`document.getElementById("freeze-open").click()`), holds(`document.getElementById("freeze").open`),
		run(`{ const s = document.getElementById("freeze-scope"); s.value = "agent"; s.dispatchEvent(new Event("change")); }`),
		run(`document.getElementById("freeze-target").value = "coder"`), run(`document.getElementById("freeze-reason").value = "it loops <b>"`))
	screenshot(t, ctx, "console-freeze.png", "light")
	do(t, ctx, run(`document.getElementById("freeze-do").click()`), holds(`!document.getElementById("freeze").open`), holds(`!document.getElementById("frozen").hidden`))
	if text := value[string](t, ctx, `document.getElementById("frozen").textContent`); !contains(text, "agent coder", "it loops <b>", "hookctl thaw") {
		t.Errorf("the page says %q", text)
	}
	if orders, _ := f.Freezes(); len(orders) != 1 || orders[0].Agent != "coder" || orders[0].By != console.Who {
		t.Errorf("orders: %+v", orders)
	}

	second := tab(t, ctx)
	do(t, second, chromedp.Navigate(server.URL+"/#token="+long(31)), holds(linked), holds(`!document.getElementById("frozen").hidden`))
	if value[bool](t, second, `!document.getElementById("freeze-open").hidden`) {
		t.Error("who may not freeze has the button")
	}
}

// A browser behind a proxy that signs people in needs no address with a token.
func TestAProxySignsPeopleIn(t *testing.T) {
	ctx := browser(t)
	svc := newMemory()
	c := open(t, console.Options{Approvals: svc, ProxyHeader: "X-Forwarded-User", People: []console.Person{{Name: "proxy", Token: long(40)}}})
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set("Authorization", "Bearer "+long(40))
		r.Header.Set("X-Forwarded-User", "ann@example.org")
		c.Handler().ServeHTTP(w, r)
	}))
	defer proxy.Close()
	svc.ask(question("q"))
	do(t, ctx, chromedp.Navigate(proxy.URL+"/"), holds(linked), awake(), run(`document.querySelector("#ask-options button").click()`), holds(closed))
	if d := svc.decision("q"); d == nil || d.DecidedBy != "console ann@example.org" {
		t.Errorf("decision: %+v", d)
	}
}

func contains(text string, parts ...string) bool {
	for _, p := range parts {
		if !strings.Contains(text, p) {
			return false
		}
	}
	return true
}
