package console_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/auditlog"
	"github.com/hookrouter/hookrouter/internal/auditlog/signer"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/server"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
)

const secret = "ghp_0123456789abcdefghijklmnopqrstuvwxyzAB"

var pressTab = chromedp.KeyEvent(kb.Tab)

// asking is a router with a hook that asks about what an agent does.
type asking struct {
	t     *testing.T
	s     *server.Server
	agent *nats.Conn
	base  string
}

func newAsking(t *testing.T) *asking {
	t.Helper()
	key, err := signer.LoadKey(filepath.Join(t.TempDir(), "audit.key"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.Start(t.Context(), server.Options{
		StoreDir: natstest.StoreDir(t), HTTPListen: "127.0.0.1:0", ConsoleToken: token, Router: router.Options{Audit: auditlog.Options{Key: key}},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	up, down := make(chan struct{}), make(chan error, 1)
	go func() { down <- s.Run(ctx, func() { close(up) }) }()
	t.Cleanup(func() {
		cancel()
		if err := <-down; err != nil {
			t.Error(err)
		}
	})
	<-up
	a := &asking{t: t, s: s, base: "http://" + s.HTTPAddr()}
	hook := a.connect()
	a.agent = a.connect()
	if _, err := hook.QueueSubscribe("hooks.call.production-guard", "g", func(m *nats.Msg) {
		var ev struct {
			Tool  string `json:"tool_name"`
			Input struct {
				Command string
				Path    string `json:"file_path"`
			} `json:"tool_input"`
		}
		_ = json.Unmarshal(m.Data, &ev)
		answer := `{"action":"continue"}`
		switch {
		case strings.HasPrefix(ev.Input.Command, "rm"):
			answer = `{"action":"deny","reason":"removes directories of the system"}`
		case ev.Tool != "Read":
			answer = fmt.Sprintf(`{"action":"ask_user","reason":"outside the release window","approval_prompt":"%s: %s?\n\nAsked because: outside the release window","approval_options":["Allow once","Allow","Deny","Ask the release team"]}`,
				ev.Tool, ev.Input.Command+ev.Input.Path)
		}
		_ = m.RespondMsg(&nats.Msg{Header: nats.Header{"Hook-Rule": {"worker.yaml:12 production-guard"}}, Data: []byte(answer)})
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := hook.Request("hooks.register.production-guard", []byte(`{"events":["tool:pre"],"on_failure":"deny","match":"data.tool_name != 'LS'"}`), 20*time.Second); err != nil {
		t.Fatal(err)
	}
	return a
}

func (a *asking) connect() *nats.Conn {
	a.t.Helper()
	nc, err := nats.Connect("", nats.InProcessServer(a.s.InProcess()))
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(nc.Close)
	return nc
}

// call is what the agent wants to do; the id is that of the approval request.
func (a *asking) call(tool string, input any) (id string) {
	a.t.Helper()
	data, err := json.Marshal(map[string]any{"session_id": "7f3c-session-of-the-shop", "tool_name": tool, "tool_input": input})
	if err != nil {
		a.t.Fatal(err)
	}
	m, err := a.agent.RequestMsg(&nats.Msg{Subject: "hooks.execute.tool.pre", Header: nats.Header{"Hook-Wait-Ms": {"0"}}, Data: data}, 20*time.Second)
	if err != nil {
		a.t.Fatal(err)
	}
	var pending struct{ Approval struct{ ID string } }
	if err := json.Unmarshal(m.Data, &pending); err != nil {
		a.t.Fatalf("%v: %s", err, m.Data)
	}
	return pending.Approval.ID
}

func (a *asking) deny(id string) {
	a.t.Helper()
	r, err := http.NewRequestWithContext(a.t.Context(), http.MethodPost, a.base+"/v1/approvals/"+id, strings.NewReader(`{"option":"Deny"}`))
	if err != nil {
		a.t.Fatal(err)
	}
	r.Header.Set("Authorization", right)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		a.t.Fatal(err)
	}
	_ = resp.Body.Close()
}

// edited is an Edit of 120 lines, 17 of which change.
func edited() map[string]string {
	var before, after strings.Builder
	for i := range 120 {
		fmt.Fprintf(&before, "replicas[%d] = %d\n", i, i)
		if i >= 40 && i < 57 {
			fmt.Fprintf(&after, "replicas[%d] = %d\n", i, i+3)
		} else {
			fmt.Fprintf(&after, "replicas[%d] = %d\n", i, i)
		}
	}
	return map[string]string{"file_path": "/srv/shop/production/replicas.toml", "old_string": before.String(), "new_string": after.String()}
}

// Each page and state of the console, on a phone, a tablet and a desktop, light and dark:
// what people do there works, nothing is cut off, and axe finds nothing.
func TestPagesOnEveryScreen(t *testing.T) {
	ctx := browser(t)
	core := axe(t)
	a := newAsking(t)
	do(t, ctx, chromedp.Navigate(a.base+"/#token="+token), holds(linked))
	for _, width := range []int{390, 768, 1400} {
		for _, scheme := range []string{"light", "dark"} {
			(&screen{t, ctx, a, core, width, scheme}).visit()
		}
	}
}

type screen struct {
	t      *testing.T
	ctx    context.Context //nolint:containedctx // of the browser's tab
	a      *asking
	axe    string
	width  int
	scheme string
}

// check looks at what is shown, and keeps a picture.
func (s *screen) check(state string) {
	s.t.Helper()
	name := fmt.Sprintf("%s at %d, %s", state, s.width, s.scheme)
	accessible(s.t, s.ctx, s.axe, name)
	fits(s.t, s.ctx, name)
	picture, err := chromedp.Run(s.ctx, chromedp.CaptureScreenshot())
	if err == nil {
		err = os.MkdirAll(artifacts, 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(artifacts, fmt.Sprintf("console-%d-%s-%s.png", s.width, s.scheme, state)), picture, 0o644)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	if s.width == 1400 && s.scheme == "light" {
		byKeyboard(s.t, s.ctx, name)
		s.do(settled()) // Tab has left the page and come back
	}
}

// timed checks that a time in the one form of the console stands in what a selector finds.
func (s *screen) timed(selector string) {
	s.t.Helper()
	text := value[string](s.t, s.ctx, `[...document.querySelectorAll("`+selector+`")].map((e) => e.textContent).join("\n")`)
	if !regexp.MustCompile(`(?m)^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(, took .*)?$`).MatchString(text) {
		s.t.Errorf("%s has no time such as 2026-01-02 15:04:05: %s", selector, text)
	}
}

func (s *screen) do(steps ...action) {
	s.t.Helper()
	do(s.t, s.ctx, steps...)
}

func (s *screen) visit() {
	t := s.t
	t.Helper()
	s.do(chromedp.EmulateViewport(int64(s.width), map[int]int64{390: 844, 768: 1024, 1400: 900}[s.width]))
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: s.scheme}}}
	if _, err := chromedp.Call(s.ctx, emulation.SetEmulatedMedia, media); err != nil {
		t.Fatal(err)
	}
	s.do(run(`location.hash = "registry"`), holds(`document.querySelectorAll("#registry-rows tr").length === 1`))
	s.check("registry")

	// Approve: a diff, with what changes first.
	s.a.call("Edit", edited())
	s.a.call("Bash", map[string]string{"command": "./deploy.sh production --token " + secret, "description": "Ship it"})
	s.do(holds(`document.title === "(2) hookrouter"`), run(`location.hash = "approvals"`), awake())
	if got := value[string](t, s.ctx, `(() => { const order = [...document.querySelectorAll("#ask-subject pre, #ask-edits del, #ask-edits ins, #ask-edits span:not(.hunk), #ask-prompt")];
		const count = (tag) => order.filter((e) => e.tagName === tag).length, lines = order.findIndex((e) => e.tagName === "DEL");
		return [order[0].textContent, count("DEL"), count("INS"), count("SPAN"), lines < order.findIndex((e) => e.id === "ask-prompt")].join(" "); })()`); got != "/srv/shop/production/replicas.toml 17 17 6 true" {
		t.Errorf("at first there is %s", got)
	}
	if seen := value[string](t, s.ctx, `document.getElementById("ask").innerText`); strings.Contains(seen, "⟨LF⟩") || strings.Count(seen, "outside the release window") != 1 ||
		strings.Contains(seen, "allows") || !strings.Contains(seen, "denies") {
		t.Errorf("the question reads: %s", seen)
	}
	if top := value[int](t, s.ctx, `document.getElementById("ask-body").scrollTop`); top != 0 {
		t.Errorf("the question opens at %d", top)
	}
	s.check("approve")
	s.do(chromedp.Click(chromedp.CSS("#ask-options .allow")), holds(`document.getElementById("ask-prompt").textContent.startsWith("Bash: ./deploy.sh")`), awake())

	// Reveal, and deny.
	if strings.Contains(value[string](t, s.ctx, `document.body.innerText`), secret) {
		t.Error("a secret is shown to who did not ask for it")
	}
	s.do(holds(`document.getElementById("ask-reveal").checkVisibility()`), chromedp.Click(chromedp.CSS("#ask-reveal")), holds(`document.getElementById("ask-subject").innerText.includes("`+secret+`")`))
	if got := value[string](t, s.ctx, `document.getElementById("ask-changes").innerText`); !strings.HasPrefix(got, "Nothing:") {
		t.Errorf("revealed, hooks changed %q", got)
	}
	s.check("reveal")
	s.do(chromedp.Click(chromedp.CSS("#ask-options .deny")), holds(closed), holds(`document.getElementById("toast").textContent === "Denied"`))
	s.check("deny")

	// Cards: what was set aside.
	id := s.a.call("Bash", map[string]string{"command": "kubectl --context production apply -f deploy/k8s/overlays/production-with-a-long-name/kustomization.yaml"})
	s.do(awake(), chromedp.KeyEvent(kb.Escape), holds(closed))
	s.check("cards")
	if top := value[float64](t, s.ctx, `document.getElementById("freeze-open").getBoundingClientRect().top`); top < 4 {
		t.Errorf("at %d the button that freezes is %v px below the edge", s.width, top)
	}
	s.do(chromedp.Click(chromedp.CSS("#freeze-open")), holds(`document.getElementById("freeze").open`))
	s.check("freeze")
	s.do(chromedp.Click(chromedp.CSS("#freeze-close")), holds(`!document.getElementById("freeze").open`))
	s.a.deny(id)
	s.a.call("Bash", map[string]string{"command": "rm -rf /"})

	s.do(chromedp.Click(chromedp.CSS("#tab-history")), holds(`document.querySelectorAll("#history-rows li").length >= 3`))
	s.timed("#history-rows time")
	s.check("history")
	s.do(run(`document.querySelector("#history-rows a").click()`), holds(`document.querySelectorAll("#why-hooks li").length === 1`), holds(linked))
	s.timed("#why-facts dd")
	s.check("why")
	s.do(chromedp.Navigate(a11yPage(s.a.base, "live")), holds(linked), holds(`document.querySelectorAll("#live-rows tr").length >= 4`))
	s.check("live")
	s.do(chromedp.Navigate(a11yPage(s.a.base, "audit")), holds(`document.querySelectorAll("#audit-rows li").length >= 4 && document.querySelectorAll("#audit-state div").length >= 4`))
	s.check("audit")
	s.do(chromedp.Navigate(s.a.base + "/denied"))
	s.check("denied")
	s.do(chromedp.Navigate(a11yPage(s.a.base, "live")), holds(linked))
}

// a11yPage is the address of a view; the query has the browser load it.
func a11yPage(base, view string) string {
	return fmt.Sprintf("%s/?%d#%s", base, time.Now().UnixNano(), view)
}
