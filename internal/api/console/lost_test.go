package console_test

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/internal/api/console"
)

// A lost router is announced across the page, which recovers by itself when it is back, with
// the session that it had; and a program that takes its place is not shown that.
func TestALostRouterIsAnnouncedAndComesBack(t *testing.T) {
	ctx := browser(t)
	core := axe(t)
	svc := newMemory()
	svc.ask(question("q1"))
	var routers [2]*console.Console // the same one, each time it is started
	for i := range routers {
		routers[i] = console.New(console.Options{Approvals: svc, SessionKey: bytes.Repeat([]byte{7}, 32)})
		t.Cleanup(routers[i].Close)
	}
	var current atomic.Pointer[http.Handler]
	serve := func(h http.Handler) { current.Store(&h) }
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*current.Load()).ServeHTTP(w, r) }))
	defer server.Close()
	serve(routers[0].Handler())
	do(t, ctx, chromedp.EmulateViewport(390, 844), chromedp.Navigate(server.URL+"/#token="+routers[0].Token()), holds(opened), run(`document.getElementById("ask-close").click()`), holds(closed))

	serve(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	routers[0].Close()
	announced := func(text string) action {
		return holds(`document.getElementById("banner").checkVisibility() && document.getElementById("banner").role === "alert" && document.getElementById("banner").textContent.startsWith("` + text + `")`)
	}
	do(t, ctx, announced("The router can't be reached"))
	accessible(t, ctx, core, "a lost router")
	fits(t, ctx, "a lost router")

	serve(routers[1].Handler())
	do(t, ctx, holds(linked), holds(`document.getElementById("banner").hidden && document.getElementById("toast").textContent === "The router is back."`),
		run(`document.querySelector("[data-review]").click()`), awake(), chromedp.KeyEvent("1"), holds(closed))
	if d := svc.decision("q1"); d == nil || d.Option != "Allow once" {
		t.Errorf("decided: %+v", d)
	}

	session := value[string](t, ctx, `sessionStorage.getItem("hookrouter.session")`)
	signature := session[strings.LastIndexByte(session, '.')+1:]
	var mu sync.Mutex
	var seen []string
	serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := new(bytes.Buffer)
		_, _ = body.ReadFrom(r.Body)
		mu.Lock()
		defer mu.Unlock()
		if all := strings.Join(r.Header["Authorization"], "") + strings.Join(r.Header["Sec-Websocket-Protocol"], "") + body.String() + r.RequestURI; strings.Contains(all, signature) {
			seen = append(seen, r.URL.Path)
		}
		_, _ = w.Write([]byte(`{"proof":"I am the router","approvals":[]}`))
	}))
	routers[1].Close()
	do(t, ctx, announced("Access has ended"))
	mu.Lock()
	defer mu.Unlock()
	if diff := cmp.Diff([]string(nil), seen); diff != "" {
		t.Errorf("another program is shown the session: %s", diff)
	}
}

// hostile is a log of what an agent wrote to harm who reads it.
type hostile struct{ console.Records }

const evil = `<img src=x onerror=\"window.pwned=1\"> \u202etxt.exe\u001b[2J`

func (hostile) Decisions(context.Context, console.Query) ([]byte, error) {
	return []byte(`{"decisions":[{"id":"q","time":"2026-01-02T10:00:00Z","granted":true,"hook":"` + evil + `","event":"tool:pre","session_id":"` + evil + `","chain_id":"../` + evil +
		`","prompt":"` + evil + `\nsecond line","decided_by":"` + evil + `","note":"` + evil + `","option":"` + evil + `"}],"more":true}`), nil
}

func (hostile) Search(context.Context, console.Query) ([]byte, error) {
	return []byte(`{"records":[{"time":"2026-01-02T10:00:00Z","place":"1:0","kind":"chain.result","event":"tool:pre","action":"` + evil + `","hook":"` + evil +
		`","session_id":"s","chain_id":"c","tool":"` + evil + `","subject":"` + evil + strings.Repeat("x", 2000) + `","reason":"` + evil + `"}]}`), nil
}

func (hostile) State(context.Context) ([]byte, error) {
	return []byte(`{"origin":"` + evil + `","segments":1,"messages":3,"signed":{"by":"` + evil + `","size":2,"time":"2026-01-02T10:00:00Z"},"witnesses":[],"next":["` + evil + `"]}`), nil
}

func (hostile) Recent(context.Context) ([]console.Event, error) {
	return []console.Event{{Kind: console.KindResult, Name: "tool:pre", ChainID: "c1", Action: "deny", Reason: "<img src=x> \u202e", Data: []byte(`{"a":"<img src=x> \u202e"}`)}}, nil
}

func TestWhatIsReadBackIsText(t *testing.T) {
	ctx := browser(t)
	core := axe(t)
	server := httptest.NewServer(open(t, console.Options{Approvals: newMemory(), Records: hostile{}}).Handler())
	defer server.Close()
	do(t, ctx, chromedp.EmulateViewport(390, 844), chromedp.Navigate(server.URL+"/#token="+token), holds(linked))
	for _, view := range []string{"history", "audit", "live"} {
		do(t, ctx, run(`location.hash = "`+view+`"`), holds(`document.querySelectorAll("#`+view+`-rows > *").length === 1`))
		if got := value[string](t, ctx, `(() => { const view = document.getElementById("`+view+`"); return [view.querySelectorAll("img").length, "pwned" in window, view.innerText.includes("⟨U+202E⟩"), /[\u202e\u001b]/.test(view.innerText)].join(" "); })()`); got != "0 false true false" {
			t.Errorf("%s: %s", view, got)
		}
		accessible(t, ctx, core, view)
		fits(t, ctx, view)
	}
	if link := value[string](t, ctx, `document.querySelector("#history-rows a").pathname`); !strings.HasPrefix(link, "/why/..%2F") {
		t.Errorf("an id leads to %s", link)
	}
	// Who may only answer has no way to the log, and is told why where they type its address.
	ann := console.New(console.Options{Approvals: newMemory(), Records: hostile{}, People: []console.Person{{Name: "ann", Token: "ann-" + token}}})
	defer ann.Close()
	other := httptest.NewServer(ann.Handler())
	defer other.Close()
	do(t, ctx, chromedp.Navigate(other.URL+"/#token=ann-"+token), holds(linked), run(`location.hash = "audit"`), holds(`document.getElementById("audit-note").textContent.includes("--console-audit")`))
	if !value[bool](t, ctx, `document.getElementById("tab-audit").hidden && document.querySelectorAll("#audit-rows > *").length === 0 && document.getElementById("audit-state").children.length === 0`) {
		t.Error("who may not audit is shown the log")
	}
}
