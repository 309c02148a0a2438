package console_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/hookrouter/hookrouter/internal/api/console"
	"github.com/hookrouter/hookrouter/internal/webhook/answerlink"
)

func TestAPersonAnswersThroughALink(t *testing.T) {
	ctx := browser(t)
	svc := newMemory()
	asks := rich("q")
	asks.Emitter = "nats agent/other"
	svc.ask(asks)
	q, err := svc.Get(t.Context(), "q")
	if err != nil {
		t.Fatal(err)
	}
	c := open(t, console.Options{Approvals: svc, Links: links})
	server := httptest.NewServer(c.Handler())
	t.Cleanup(server.Close)
	link := links.URL(server.URL, q.Request, 0)
	do(t, ctx, chromedp.EmulateViewport(390, 844), chromedp.Navigate(link), holds(`!document.getElementById("confirm").hidden`))
	if wide := value[bool](t, ctx, `document.documentElement.scrollWidth > innerWidth`); wide {
		t.Error("the page is wider than a phone")
	}
	if order := value[string](t, ctx, `[...document.querySelectorAll("#subject pre, #edits, #prompt, #submit")].map((e) => e.id || e.tagName).join(" ")`); order != "PRE edits prompt submit" {
		t.Errorf("the page shows, in this order: %s; want what is judged before the question", order)
	}
	if about := value[string](t, ctx, `document.getElementById("about").innerText`); !strings.Contains(about, "nats agent/other, as ") {
		t.Errorf("who asks is not shown by the proven name: %s", about)
	}
	screenshot(t, ctx, "answer-link-390-light.png", "light")
	screenshot(t, ctx, "answer-link-390-dark.png", "dark")
	if svc.decision("q") != nil {
		t.Fatal("opening the link answered")
	}
	do(t, ctx, run(`dispatchEvent(new Event("focus")); document.getElementById("submit").click()`), holds(`document.getElementById("outcome").textContent.startsWith("Not answered")`))
	if svc.decision("q") != nil {
		t.Fatal("a click that closed a window in front answered")
	}
	do(t, ctx, settled(), run(`document.getElementById("submit").focus()`), chromedp.KeyEvent("\r"), holds(`document.getElementById("outcome").dataset.kind === "allowed"`))
	if d := svc.decision("q"); d == nil || d.DecidedBy != answerlink.Who || d.Option != q.Options[0] {
		t.Errorf("decision %+v", d)
	}
	do(t, ctx, chromedp.Navigate("about:blank"), chromedp.Navigate(link), holds(`!document.getElementById("outcome").hidden && document.getElementById("confirm").hidden`))
}
