package console_test

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/internal/api/console"
	"github.com/hookrouter/hookrouter/internal/testkit"
)

// searched is a log that tells what it is asked for.
type searched struct {
	hostile
	asked chan console.Query
}

func (s searched) Decisions(ctx context.Context, q console.Query) ([]byte, error) {
	s.asked <- q
	return s.hostile.Decisions(ctx, q)
}

func (s searched) Search(ctx context.Context, q console.Query) ([]byte, error) {
	s.asked <- q
	return s.hostile.Search(ctx, q)
}

// The history and the audit log are searched for what a person types, and an approval
// request, a live event and an id that is typed lead to the story of their chain.
func TestWhatIsSearchedAndWhereItLeads(t *testing.T) {
	ctx := browser(t)
	svc, log := newMemory(), searched{asked: make(chan console.Query, 8)}
	q := question("q1")
	q.Emitter, q.Labels = "nats agent/other", []string{"secret", "web"}
	svc.ask(q)
	server := httptest.NewServer(open(t, console.Options{
		Approvals: svc, Records: log, Why: func(context.Context, string) ([]byte, error) { return []byte(`{"verdict":"denied","hooks":[]}`), nil },
	}).Handler())
	defer server.Close()
	do(t, ctx, chromedp.Navigate(server.URL+"/#token="+token), holds(opened), awake())
	if link := value[string](t, ctx, `document.querySelector("#ask-facts a").pathname`); link != "/why/c1" {
		t.Errorf("an approval request leads to %s", link)
	}
	if facts := value[string](t, ctx, `document.getElementById("ask-facts").innerText`); !strings.Contains(facts, "nats agent/other, as agents/coder") || !strings.Contains(facts, "secret, web") {
		t.Errorf("who asks is not shown by the proven name, or not what it has seen: %s", facts)
	}
	do(t, ctx, chromedp.KeyEvent(kb.Escape), holds(closed))
	for view, want := range map[string]console.Query{"history": {Action: "deny", Hook: "guard", By: "ann"}, "audit": {Action: "deny", Hook: "guard", Event: "tool:*", Session: "s 1"}} {
		do(t, ctx, run(`location.hash = "`+view+`"`))
		testkit.Receive(t, "the view is filled", log.asked)
		do(t, ctx, run(`{
			const form = document.getElementById("`+view+`-form"), typed = {action: "deny", hook: "guard", by: "ann", event: "tool:*", session_id: "s 1"};
			for (const [name, text] of Object.entries(typed)) if (form.elements[name]) form.elements[name].value = text;
			form.requestSubmit();
		}`))
		got := testkit.Receive(t, "it is searched", log.asked)
		want.Since, want.Until, want.Limit = got.Since, got.Until, got.Limit
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", view, diff)
		}
	}
	do(t, ctx, run(`location.hash = "live"`), holds(`document.querySelector("#live-rows a")?.pathname === "/why/c1"`),
		run(`location.hash = "audit"`), chromedp.SendKeys(chromedp.CSS("#id-form input"), "e/1"+kb.Enter), holds(`location.pathname === "/why/e%2F1"`))
}
