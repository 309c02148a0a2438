package console_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/internal/api/console"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/pkg/approval"
)

// artifacts is where screenshots are kept.
const artifacts = "../../../test/artifacts"

// browser starts Chromium, or skips the test where there is none.
func browser(t *testing.T) context.Context {
	t.Helper()
	testkit.From(t, testkit.CI) // a browser takes seconds of CPU to start
	if testing.Short() {
		t.Skip("starts a browser")
	}
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("there is no chromium here: apt-get install chromium")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	t.Cleanup(cancel)
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.UserDataDir(t.TempDir()), chromedp.WindowSize(1280, 860),
		chromedp.NoSandbox, chromedp.DisableGPU, chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true))
	ctx, stop := chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(stop)
	return tab(t, ctx)
}

func tab(t *testing.T, ctx context.Context) context.Context {
	t.Helper()
	ctx, _ = chromedp.NewContext(ctx)
	t.Cleanup(func() { _ = chromedp.Cancel(ctx) }) // waits for it
	do(t, ctx)
	// Else a page gets the focus with the first key, which then counts as too early.
	if _, err := chromedp.Call(ctx, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true}); err != nil {
		t.Fatal(err)
	}
	return ctx
}

type action = chromedp.Action[chromedp.Void]

func do(t *testing.T, ctx context.Context, steps ...action) {
	t.Helper()
	if err := chromedp.Do(ctx, steps...); err != nil {
		page, _ := chromedp.Run(ctx, script[string](`document.body.innerText.slice(0, 2000)`))
		t.Fatalf("%v\n%s", err, page)
	}
}

// value is what an expression is in the page; a promise is waited for.
func value[T any](t *testing.T, ctx context.Context, expression string) T {
	t.Helper()
	v, err := chromedp.Run(ctx, script[T](expression))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func script[T any](expression string) chromedp.Action[T] {
	return chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise)
}

func run(expression string) action { return script[chromedp.Void](expression) }

// holds waits until an expression is true in the page. It asks again and again:
// a page in the background draws no frames.
func holds(expression string) action {
	return func(ctx context.Context, target *chromedp.Target) (none chromedp.Void, err error) {
		for end := time.Now().Add(20 * time.Second); time.Now().Before(end); {
			if yes, err := script[bool]("!!("+expression+")")(ctx, target); err == nil && yes {
				return none, nil
			}
			if _, err := chromedp.Sleep(20*time.Millisecond)(ctx, target); err != nil {
				return none, err
			}
		}
		return none, fmt.Errorf("it never holds: %s", expression)
	}
}

// awake waits until the dialog takes keys.
func awake() action { return chromedp.Steps(holds(opened), settled()) }

// settled waits until what just appeared takes keys and clicks.
func settled() action {
	return chromedp.Steps(run(`window.since = performance.now()`), holds(`performance.now() - window.since > 450`))
}

const (
	opened = `document.getElementById("ask").open`
	closed = `!document.getElementById("ask").open`
	linked = `document.getElementById("link").dataset.state === "on"`
)

func screenshot(t *testing.T, ctx context.Context, name, scheme string) {
	t.Helper()
	if err := os.MkdirAll(artifacts, 0o755); err != nil {
		t.Fatal(err)
	}
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
	if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, media); err != nil {
		t.Fatal(err)
	}
	picture, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(artifacts, name), picture, 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestAPersonAnswersInTheBrowser(t *testing.T) {
	ctx := browser(t)
	svc, events := newMemory(), newSource()
	c := open(t, console.Options{Approvals: svc, Events: events.subscribe, Registry: func(context.Context) ([]byte, error) { return []byte(registry), nil }})
	server := httptest.NewServer(c.Handler())
	defer server.Close()
	do(t, ctx, chromedp.Navigate(server.URL+"/?token="+c.Token()), holds(linked))
	if address := value[string](t, ctx, `location.href`); address != server.URL+"/" {
		t.Errorf("the token stays in the address: %s", address)
	}
	second := tab(t, ctx)
	do(t, second, chromedp.Navigate(server.URL+"/#token="+c.Token()), holds(linked))

	svc.ask(rich("q1"))
	do(t, ctx, holds(opened))
	type text struct {
		Title  string `json:"title"`
		Prompt string `json:"prompt"`
		Tool   string `json:"tool"`
		Old    string `json:"old"`
		New    string `json:"new"`
		Data   string `json:"data"`
		Focus  string `json:"focus"`
	}
	shown := value[text](t, ctx, `({title: document.title, prompt: document.getElementById("ask-prompt").textContent,
		tool: document.getElementById("ask-tool").textContent, old: document.querySelector("del").textContent, new: document.querySelector("ins").textContent,
		data: document.getElementById("ask-data").textContent.match(/"offset": [0-9]+/)[0], focus: document.activeElement.id})`)
	want := text{
		Title: "(1) hookrouter", Prompt: "Deploy to production?\nThe branch is ⟨U+202E⟩niam⟨ESC⟩[31m", Tool: "Bash",
		Old: "- ./deploy.sh production --force\n", New: "+ ./deploy.sh production --dry-run=false\n",
		Data: `"offset": 90071992547409931`, Focus: "ask-prompt",
	}
	if diff := cmp.Diff(want, shown); diff != "" {
		t.Error(diff)
	}
	screenshot(t, ctx, "console-dark.png", "dark")
	screenshot(t, ctx, "console.png", "light")
	do(t, ctx, chromedp.EmulateViewport(400, 760))
	screenshot(t, ctx, "console-narrow.png", "light")
	do(t, ctx, chromedp.ResetViewport())

	// The key is answered in the first tab; the second one says who did it.
	do(t, second, awake())
	do(t, ctx, awake(), chromedp.KeyEvent("1"), holds(closed))
	do(t, second, holds(`document.getElementById("ask-outcome").textContent === "Allowed by console token: Allow once"`))
	screenshot(t, second, "console-elsewhere.png", "light")
	if d := svc.decision("q1"); d == nil || d.Option != "Allow once" || !d.Granted {
		t.Errorf("decided: %+v", d)
	}
	do(t, second, holds(`!document.getElementById("ask").open && document.title === "hookrouter"`))
}

// "Allow always" is for what the person chooses, where the sender is proven; keys in the
// choice answer nothing.
func TestTheScopeOfAllowAlways(t *testing.T) {
	ctx := browser(t)
	svc := newMemory()
	c := open(t, console.Options{Approvals: svc, Events: newSource().subscribe})
	server := httptest.NewServer(c.Handler())
	defer server.Close()
	do(t, ctx, chromedp.EmulateViewport(390, 844), chromedp.Navigate(server.URL+"/?token="+c.Token()), holds(linked))
	const choice = `document.getElementById("ask-scope")`
	for i, tt := range []struct {
		emitter, choose, key string
		want                 string
	}{
		{"nats agent/coder", "lineage", "2", approval.ScopeLineage},
		{"nats agent/coder", "agent", "2", approval.ScopeAgent},
		{"nats agent/coder", "session", "2", ""},
		{"nats agent/coder", "agent", "1", ""}, // "Allow once" has no scope
		{"", "", "2", ""},
	} {
		id := fmt.Sprint("q", i)
		r := rich(id)
		r.Emitter = tt.emitter
		svc.ask(r)
		do(t, ctx, awake())
		if offered := value[bool](t, ctx, choice+`.checkVisibility()`); offered != (tt.emitter != "") {
			t.Errorf("%d: the choice is offered: %v", i, offered)
		}
		if tt.choose != "" {
			do(t, ctx, run(choice+`.value = "`+tt.choose+`"; `+choice+`.focus()`), chromedp.KeyEvent("3"))
			if !value[bool](t, ctx, opened) || svc.decision(id) != nil {
				t.Fatalf("%d: a key in the choice decided", i)
			}
			do(t, ctx, run(choice+`.value = "`+tt.choose+`"`)) // the key may have chosen another
			if i == 0 {
				screenshot(t, ctx, "console-scope-phone.png", "light")
			}
			do(t, ctx, run(`document.getElementById("ask-prompt").focus()`))
		}
		do(t, ctx, chromedp.KeyEvent(tt.key), holds(closed))
		if d := svc.decision(id); d == nil || !d.Granted || d.Scope != tt.want {
			t.Errorf("%d: decided %+v; want the scope %q", i, d, tt.want)
		}
	}
}

func TestKeysInTheDialog(t *testing.T) {
	ctx := browser(t)
	svc := newMemory()
	server := httptest.NewServer(open(t, console.Options{Approvals: svc}).Handler())
	defer server.Close()
	do(t, ctx, chromedp.Navigate(server.URL+"/?token="+token), holds(linked))
	// A key in the very moment that an approval request opens, from the page itself, and word that
	// the one before was closed.
	do(t, ctx, run(`new MutationObserver(() => {
		for (const key of ["1", "Enter", "Escape"]) document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true}));
		document.querySelector("#ask-options button").click();
		document.getElementById("ask").dispatchEvent(new Event("cancel", {cancelable: true}));
		if (document.getElementById("ask").open) document.getElementById("ask").dispatchEvent(new Event("close"));
		window.pressed = true;
	}).observe(document.getElementById("ask"), {attributes: true})`))
	for _, step := range []struct {
		name, id string
		keys     action
		after    string
		option   string
	}{
		{"Escape closes without an answer", "escape", chromedp.KeyEvent(kb.Escape), closed, ""},
		{"a figure in the note is text", "note", chromedp.SendKeys(chromedp.CSS("#ask-note"), "1"), `document.getElementById("ask-note").value === "1"`, ""},
		{"a figure beyond the options does nothing", "beyond", chromedp.KeyEvent("9"), opened, ""},
		{"Tab and Enter answer", "tab", chromedp.Steps(
			chromedp.Focus(chromedp.CSS("#ask-note")), chromedp.KeyEvent(kb.Tab+kb.Tab+kb.Tab+kb.Enter),
		), closed, "Deny"},
		{"a figure answers", "figure", chromedp.KeyEvent("2"), closed, "Allow always"},
	} {
		svc.ask(question(step.id))
		do(t, ctx, awake(), holds(`window.pressed`))
		if d := svc.decision(step.id); d != nil {
			t.Fatalf("%s: a key at the opening decided %+v", step.name, d)
		}
		do(t, ctx, step.keys, holds(step.after))
		got := ""
		if d := svc.decision(step.id); d != nil {
			got = d.Option
		}
		if got != step.option {
			t.Errorf("%s: answered %q, want %q", step.name, got, step.option)
		}
		if step.option == "" {
			svc.decide(step.id)
			do(t, ctx, holds(`document.title === "hookrouter" && (!document.getElementById("ask").open || !document.getElementById("ask-outcome").hidden)`),
				run(`document.getElementById("ask-close").click(); window.pressed = false`), holds(closed))
		}
	}
}

func TestApprovalRequestsComeAndGo(t *testing.T) {
	ctx := browser(t)
	svc := newMemory()
	server := httptest.NewUnstartedServer(open(t, console.Options{Approvals: svc}).Handler())
	conns := make(chan net.Conn, 64)
	server.Config.ConnContext = func(ctx context.Context, conn net.Conn) context.Context {
		conns <- conn
		return ctx
	}
	server.Start()
	defer server.Close()
	titled := func(id string) approval.Record {
		q := question(id)
		q.Prompt = id
		return q
	}
	prompts := func(id string) action {
		return holds(opened + fmt.Sprintf(` && document.getElementById("ask-prompt").textContent === %q`, id))
	}
	svc.ask(titled("first"))
	do(t, ctx, chromedp.Navigate(server.URL+"/?token="+token), prompts("first"), awake(), chromedp.KeyEvent(kb.Escape), holds(closed))
	svc.ask(titled("second")) // what was set aside does not come back by itself
	do(t, ctx, prompts("second"), awake(), chromedp.KeyEvent("3"), holds(closed))
	do(t, ctx, chromedp.Click(chromedp.CSS(`[data-review="first"]`)), prompts("first"))
	svc.decideSilently("first") // the list tells, too
	do(t, ctx, holds(`document.getElementById("ask-outcome").textContent === "Denied by bob: Deny. Note: no⟨ESC⟩"`),
		chromedp.Click(chromedp.CSS("#ask-close")), holds(closed))
	if d := svc.decision("second"); d == nil || d.Option != "Deny" || d.Granted {
		t.Errorf("decided: %+v", d)
	}
	// The connection is made again, and the list is read anew.
	for range len(conns) {
		_ = (<-conns).Close()
	}
	svc.ask(titled("third"))
	do(t, ctx, prompts("third"), awake(), chromedp.KeyEvent("3"), holds(closed))
	told := make(chan struct{})
	svc.askAndDecide(titled("fourth"), told)
	<-told
	do(t, ctx, holds(`document.getElementById("ask-outcome").textContent === "Denied by alice: Deny"`))
}

func TestApprovalRequestsOpenOnTheirViewOnly(t *testing.T) {
	ctx := browser(t)
	svc := newMemory()
	server := httptest.NewServer(open(t, console.Options{Approvals: svc}).Handler())
	defer server.Close()
	waiting := func(n int) action { return holds(fmt.Sprintf(`document.title === "(%d) hookrouter"`, n)) }
	more := func(text string) action {
		return holds(opened + fmt.Sprintf(` && document.getElementById("ask-more").textContent === %q`, text))
	}
	titled := func(id string) approval.Record {
		q := question(id)
		q.Prompt = id
		return q
	}
	api := func(id string) string {
		return `import("/assets/dom.js").then((m) => m.call("/v1/approvals/` + id + `"))`
	}
	do(t, ctx, chromedp.Navigate(server.URL+"/?token="+token), holds(linked), run(`{
		const ask = document.getElementById("ask");
		window.seen = [];
		new MutationObserver(() => { if (ask.open) seen.push(document.getElementById("ask-prompt").textContent + location.hash); }).observe(ask, {attributeFilter: ["open"]});
		location.hash = "live";
	}`))
	svc.ask(titled("first"))
	do(t, ctx, waiting(1), run(api("first")), // longer than the dialog would take
		run(`location.hash = "approvals"`), more(""))
	svc.ask(titled("second"))
	do(t, ctx, more("1 more waiting"))
	svc.ask(titled("third"))
	do(t, ctx, more("2 more waiting"))
	svc.decide("second")
	do(t, ctx, more("1 more waiting"), awake(), run(`location.hash = "registry"`), chromedp.KeyEvent(kb.Escape), holds(closed))
	do(t, ctx, run(api("third")),
		run(`location.hash = "approvals"`), more("1 more waiting"), awake(), chromedp.KeyEvent("3"), holds(closed), waiting(1),
		run(api("first")))
	if diff := cmp.Diff([]string{"first#approvals", "third#approvals"}, value[[]string](t, ctx, `seen`)); diff != "" {
		t.Error(diff)
	}
}

func TestAccessEndsAndComesBack(t *testing.T) {
	ctx := browser(t)
	svc := newMemory()
	svc.ask(question("q1"))
	var routers [3]*console.Console // the same one, each time it is started
	for i := range routers {
		routers[i] = console.New(console.Options{Approvals: svc})
		t.Cleanup(routers[i].Close)
	}
	var current atomic.Pointer[console.Console]
	current.Store(routers[0])
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { current.Load().Handler().ServeHTTP(w, r) }))
	defer server.Close()
	logIn := func(ctx context.Context) {
		do(t, ctx, chromedp.Navigate(server.URL+"/?token="+current.Load().Token()), holds(linked))
	}
	ended := holds(closed + ` && document.getElementById("link").dataset.state === "off" && !document.getElementById("banner").hidden &&
		document.getElementById("banner").textContent.startsWith("Access has ended. Open the address")`)
	logIn(ctx)
	do(t, ctx, awake())

	current.Store(routers[1])
	do(t, ctx, chromedp.KeyEvent("1"), ended) // the answer is refused
	logIn(ctx)
	do(t, ctx, holds(opened))

	current.Store(routers[2])
	routers[1].Close() // the connection is lost
	do(t, ctx, ended)
	logIn(ctx)
	do(t, ctx, holds(opened), awake(), chromedp.KeyEvent("1"), holds(closed))
	if d := svc.decision("q1"); d == nil || d.Option != "Allow once" {
		t.Errorf("decided: %+v", d)
	}
}

// Another server on the same host, as an agent may run, gets nothing that answers approval
// requests.
func TestTheAccessStaysWithItsPort(t *testing.T) {
	ctx := browser(t)
	server := httptest.NewServer(open(t, console.Options{Approvals: newMemory()}).Handler())
	defer server.Close()
	got := make(chan http.Header, 8)
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got <- r.Header }))
	defer other.Close()
	do(t, ctx, chromedp.Navigate(server.URL+"/#token="+token), holds(linked))
	if cookies := value[string](t, ctx, `document.cookie`); cookies != "" {
		t.Errorf("the console set %q", cookies)
	}
	do(t, ctx, chromedp.Navigate(other.URL+"/"))
	if header := testkit.Receive(t, "the request", got); header.Get("Cookie") != "" || header.Get("Authorization") != "" {
		t.Errorf("the other server got %v", header)
	}
	if kept := value[int](t, ctx, `sessionStorage.length + localStorage.length`); kept != 0 {
		t.Errorf("the other server's page finds %d things", kept)
	}
	do(t, ctx, chromedp.Navigate(server.URL+"/denied"), holds(`document.title === "hookrouter: no access"`))
}

func TestLiveViewAndRegistry(t *testing.T) {
	ctx := browser(t)
	events := newSource()
	server := httptest.NewServer(open(t, console.Options{
		Approvals: newMemory(), Events: events.subscribe, Registry: func(context.Context) ([]byte, error) { return []byte(registry), nil },
	}).Handler())
	defer server.Close()
	do(t, ctx, chromedp.Navigate(server.URL+"/?token="+token), holds(linked),
		chromedp.Navigate(server.URL+"/#live"))
	at := time.Date(2026, 1, 2, 10, 0, 0, 0, time.UTC)
	for _, name := range []string{"tool:pre", "user:notification", "approval:required", "approval:granted"} {
		events.publish(console.Event{Kind: console.KindEvent, Name: name, ChainID: name, Time: at})
	}
	do(t, ctx, holds(`document.querySelectorAll("#live-rows tr").length === 4`))
	cells := value[map[string]string](t, ctx, `Object.fromEntries(Array.from(document.querySelectorAll("#live-rows tr"),
		(row) => [row.cells[1].textContent, row.cells[3].textContent]))`)
	if diff := cmp.Diff(map[string]string{"tool:pre": "…", "user:notification": "", "approval:required": "", "approval:granted": ""}, cells); diff != "" {
		t.Error(diff)
	}
	for i := range 700 {
		id := fmt.Sprint("c", i)
		events.publish(console.Event{Kind: console.KindEvent, Name: "tool:pre", Session: "session-7", ChainID: id, Time: at.Add(time.Duration(i) * 137 * time.Millisecond), Data: live[i%len(live)].data})
		events.publish(live[i%len(live)].result(id))
		if i%50 == 49 { // as fast as the page reads
			do(t, ctx, holds(fmt.Sprintf(`document.querySelector("#live-rows tr td")?.title.startsWith(%q)`,
				at.Add(time.Duration(i)*137*time.Millisecond).Local().Format("2006-01-02 15:04:05.000"))))
		}
	}
	do(t, ctx, holds(`document.querySelectorAll("#live-rows tr").length === 500`))
	screenshot(t, ctx, "console-live.png", "light")
	screenshot(t, ctx, "console-live-dark.png", "dark")
	do(t, ctx, chromedp.SendKeys(chromedp.CSS("#live-filter"), "deny"))
	if visible := value[int](t, ctx, `document.querySelectorAll("#live-rows tr:not([hidden])").length`); visible == 0 || visible == 500 {
		t.Errorf("the filter leaves %d rows", visible)
	}
	for verdict, sign := range map[string]string{"deny": "td:nth-child(4) [data-action=deny]", "ask": ".hop [data-action=ask_user]", "failure": ".hop [data-action=failure]"} {
		do(t, ctx, run(`(() => { const $ = (id) => document.getElementById(id); $("live-filter").value = ""; $("live-verdict").value = "`+verdict+`"; $("live-verdict").dispatchEvent(new Event("input")); })()`))
		wrong := value[int](t, ctx, `Array.from(document.querySelectorAll("#live-rows tr")).filter((row) => row.hidden === (row.querySelector("`+sign+`") !== null)).length`)
		shown := value[int](t, ctx, `document.querySelectorAll("#live-rows tr:not([hidden])").length`)
		if wrong > 0 || shown == 0 || shown == 500 {
			t.Errorf("verdict %s: %d rows are shown, %d rows wrongly shown or hidden", verdict, shown, wrong)
		}
	}
	do(t, ctx, run(`location.hash = "registry"`), holds(`document.querySelectorAll("#registry-rows tr").length === 3`))
	screenshot(t, ctx, "console-registry.png", "light")
}

// TestTextIsShownSafely runs the page's own functions.
func TestTextIsShownSafely(t *testing.T) {
	ctx := browser(t)
	server := httptest.NewServer(open(t, console.Options{Approvals: newMemory()}).Handler())
	defer server.Close()
	do(t, ctx, chromedp.Navigate(server.URL+"/?token="+token))
	for name, test := range map[string]struct{ call, in, want string }{
		"escapes are seen":              {"visible", "a\x1b[31mb\x00\x7f", "a⟨ESC⟩[31mb⟨NUL⟩⟨DEL⟩"},
		"line breaks are signs":         {"visible", "a\nb\tc\r", "a⟨LF⟩b⟨TAB⟩c⟨CR⟩"},
		"C1 is seen":                    {"visible", "a\u009bb\u0085", "a⟨U+009B⟩b⟨U+0085⟩"},
		"bidi is seen":                  {"visible", "a\u202eb\u2066c\u200f", "a⟨U+202E⟩b⟨U+2066⟩c⟨U+200F⟩"},
		"unseen spaces are seen":        {"visible", "a\u200bb\ufeffc\u00add\u2028e\u3164", "a⟨U+200B⟩b⟨U+FEFF⟩c⟨U+00AD⟩d⟨U+2028⟩e⟨U+3164⟩"},
		"tags are seen":                 {"visible", "a\U000E0041", "a⟨U+E0041⟩"},
		"a joiner of an emoji stays":    {"visible", "👩\u200d💻 ❤\ufe0f\u200d🔥", "👩\u200d💻 ❤\ufe0f\u200d🔥"},
		"selectors of variants":         {"visible", "/tmp/a\U000e0101 b\ufe0f ᠠ\u180b ⚠\ufe0f\ufe0f", "/tmp/a⟨U+E0101⟩ b⟨U+FE0F⟩ ᠠ⟨U+180B⟩ ⚠\ufe0f⟨U+FE0F⟩"},
		"marks that cover the rest":     {"visible", "a" + strings.Repeat("\u0336\u20dd", 50) + "b", "a⟨100 marks⟩b"},
		"a joiner between letters":      {"visible", "می\u200cخواهم", "می\u200cخواهم"},
		"a joiner elsewhere is seen":    {"visible", "a \u200d b\u200d", "a ⟨U+200D⟩ b⟨U+200D⟩"},
		"plain text stays":              {"visible", "Grüße, 世界 <b>&amp;</b>", "Grüße, 世界 <b>&amp;</b>"},
		"numbers keep their digits":     {"indented", `{"n":90071992547409931,"f":1.50e+2}`, "{\n  \"n\": 90071992547409931,\n  \"f\": 1.50e+2\n}"},
		"nesting is laid out":           {"indented", `{"a":[1,{"b":{}},[]],"c":"x\"}]"}`, "{\n  \"a\": [\n    1,\n    {\n      \"b\": {}\n    },\n    []\n  ],\n  \"c\": \"x\\\"}]\"\n}"},
		"spaces don't matter":           {"indented", " [ 1 , 2 ] ", "[\n  1,\n  2\n]"},
		"a text is shown as it reads":   {"shown", `"a\nb\u001b"`, "a\nb⟨ESC⟩"},
		"so are texts within others":    {"shown", `{"a":"x\ny\n","b":["1\n2",3,{}]}`, "{\n  \"a\":\n    │ x\n    │ y\n  \"b\": [\n    │ 1\n    │ 2\n    3,\n    {}\n  ]\n}"},
		"other values are shown as are": {"shown", ` [ 9007199254740993 ] `, "[\n  9007199254740993\n]"},
	} {
		in, err := json.Marshal(test.in)
		if err != nil {
			t.Fatal(err)
		}
		if got := value[string](t, ctx, fmt.Sprintf(`import("/assets/text.js").then((m) => m.%s(%s))`, test.call, in)); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
	if size := value[int](t, ctx, `import("/assets/text.js").then((m) => m.indented('{"a":"' + "\\n".repeat(1 << 18) + '"}').length)`); size != 2<<18+13 {
		t.Errorf("a long text has %d characters", size)
	}
}

// rich is an approval request with much to look at.
func rich(id string) approval.Record {
	q := question(id)
	q.Prompt = "Deploy to production?\nThe branch is \u202eniam\x1b[31m"
	q.Hook, q.HookID, q.Reason = "production-guard", "production-guard", "deploy.sh was called for production outside the release window"
	q.Expires = approval.At(q.Created.Add(5 * time.Minute))
	q.Data = []byte(`{"session_id":"s1","tool_name":"Bash","tool_input":{"command":"./deploy.sh production --dry-run=false\nnotify '#ops'","cwd":"/srv/shop",` +
		`"env":{"REGION":"eu-1","RELEASE":"2026.1"},"offset":90071992547409931,"timeout_ms":120000},"timestamp":"2026-01-02T10:00:00Z"}`)
	q.DataSHA256 = approval.Digest(q.Data)
	q.Changes = []byte(`[{"op":"replace","path":"/tool_input/command","value":"./deploy.sh production --dry-run=false\nnotify '#ops'","old":"./deploy.sh production --force"},` +
		`{"op":"add","path":"/tool_input/timeout_ms","value":120000},{"op":"remove","path":"/tool_input/sudo","old":true}]`)
	q.Options = []string{"Allow once", "Allow always", "Deny", "Ask the release team"}
	return q
}

const registry = `[{"id":"path-guard","name":"path-guard","events":["tool:pre"],"priority":0,"timeout_ms":5000,"on_failure":"deny",
  "match":"data.tool_name in ['Write','Edit']","mode":"enforce","durable":true,"replay_safe":false,"protocol":1,"order":2,"revision":7,
  "instances":[{"instance":"k3Jx","version":"1.2.0"}]},
 {"id":"production-guard","name":"Production guard","events":["tool:pre","tool:post"],"priority":10,"timeout_ms":2000,"on_failure":"deny","mode":"enforce",
  "durable":true,"protocol":1,"order":3,"revision":8,"instances":[]},
 {"id":"audit","name":"audit","events":["*"],"priority":90071992547409931,"timeout_ms":5000,"on_failure":"continue","mode":"observe",
  "durable":false,"protocol":1,"order":4,"revision":9,"instances":[{"instance":"a"},{"instance":"b"}]}]`

type sample struct {
	data           []byte
	action, reason string
	hooks          string
}

var live = []sample{
	{[]byte(`{"tool_name":"Read","tool_input":{"path":"/srv/shop/README.md"}}`), "continue", "", `[{"id":"path-guard","action":"continue","us":388},{"id":"redaction","action":"modify","us":412}]`},
	{[]byte(`{"tool_name":"Write","tool_input":{"path":"/etc/passwd","content":"x"}}`), "deny", "path-guard: /etc is read-only for agents", `[{"id":"path-guard","action":"deny","us":402}]`},
	{[]byte(`{"tool_name":"Bash","tool_input":{"command":"make test"}}`), "continue", "", `[{"id":"path-guard","action":"continue","us":371},{"id":"lint","us":5000123,"failure":"timeout","failed_open":true},{"id":"redaction","action":"continue","us":398}]`},
	{[]byte(`{"tool_name":"Bash","tool_input":{"command":"./deploy.sh production"}}`), "ask_user", "outside the release window", `[{"id":"path-guard","action":"continue","us":366},{"id":"production-guard","action":"ask_user","us":12841}]`},
}

func (s sample) result(chain string) console.Event {
	return console.Event{Kind: console.KindResult, Name: "tool:pre", Session: "session-7", ChainID: chain, Action: s.action, Reason: s.reason, Hooks: []byte(s.hooks)}
}
