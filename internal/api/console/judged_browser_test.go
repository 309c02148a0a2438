package console_test

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/hookrouter/hookrouter/internal/api/console"
	"github.com/hookrouter/hookrouter/pkg/approval"
)

// A secret that a hook took out is not in the data, and can be revealed all the same. What the
// router added is no change of a hook, and a reason that the prompt gives is not repeated.
func TestWhatAHookTookOutIsRevealed(t *testing.T) {
	ctx := browser(t)
	svc := newMemory()
	q := question("q1")
	q.Prompt, q.Reason = "Run this command?\n\nAsked because: it deletes files", "it deletes files"
	q.Data = []byte(`{"session_id":"s1","tool_name":"Bash","tool_input":{"token":"[REDACTED:github-token]","nested":{"script":"import os\nprint(1)\n"}}}`)
	q.DataSHA256 = approval.Digest(q.Data)
	patch := func(old string) []byte {
		return []byte(`[{"op":"add","path":"/session_id","value":"s1"},{"op":"replace","path":"/tool_input/token","old":"` + old + `","value":"[REDACTED:github-token]"}]`)
	}
	q.Changes = patch("[REDACTED:github-token]")
	svc.ask(q)
	plain := question("q2")
	plain.Changes = []byte(`[{"op":"add","path":"/session_id","value":"s1"}]`)
	var by []string
	server := httptest.NewServer(open(t, console.Options{Approvals: svc, Reveal: func(_ context.Context, id, who string) (approval.Record, error) {
		by = append(by, id+" to "+who)
		r := q
		r.Changes = patch(secret)
		return r, nil
	}}).Handler())
	defer server.Close()
	do(t, ctx, chromedp.Navigate(server.URL+"/#token="+token), awake())
	text := func(id string) string { return value[string](t, ctx, `document.getElementById("`+id+`").innerText`) }
	if got := text("ask-changes"); got != "tool_input.token: a secret was replaced; both values are masked" {
		t.Errorf("changed by hooks: %q", got)
	}
	if got := text("ask"); strings.Count(got, "it deletes files") != 1 || strings.Contains(got, `\n`) || !strings.Contains(got, "│ import os\n") {
		t.Errorf("the question reads: %s", got)
	}
	do(t, ctx, chromedp.Click(chromedp.CSS("#ask-reveal")), holds(`document.getElementById("ask-changes").innerText.includes("`+secret+`")`))
	if len(by) != 1 || by[0] != "q1 to console token" {
		t.Errorf("revealed: %q", by)
	}
	if value[bool](t, ctx, `document.getElementById("ask-reveal").checkVisibility()`) {
		t.Error("what is revealed can be revealed once more")
	}
	do(t, ctx, chromedp.KeyEvent(kb.Escape), holds(closed))
	svc.ask(plain)
	do(t, ctx, awake(), holds(`document.getElementById("ask-changes").innerText.startsWith("Nothing:")`))
	if value[bool](t, ctx, `document.getElementById("ask-reveal").checkVisibility()`) {
		t.Error("there is nothing to reveal")
	}
}

// The story says who answered, or that nobody did, and what is said of rules and hooks is for people.
func TestTheStoryOfAnAnswer(t *testing.T) {
	ctx := browser(t)
	stories := map[string]string{
		"late": `{"verdict":"denied","event":"tool:pre","us":1000,"time":"2026-01-02T03:04:05.678Z","hook":"path-guard","rule":"w.yaml:1 path-guard built in: /etc/**","rule_text":"built into path-guard: /etc/** (w.yaml:1)",
			"approvals":[{"decided":"2026-01-02T03:09:05.000Z","decided_by":"timeout","timed_out":true,"revealed":["nats admin/ann"]}],
			"hooks":[{"hook":"path-guard","action":"ask_user","rule_text":"built into path-guard: /etc/** (w.yaml:1)"},{"hook":"lint","skipped":true,"action":"skipped"},{"hook":"spare","skipped":true,"action":"in_vain"}]}`,
		"both": `{"verdict":"denied","event":"tool:pre","us":1000,"time":"2026-01-02T03:04:05.678Z","hook":"path-guard","askers":["path-guard","command-guard"],
			"approvals":[{"decided":"2026-01-02T03:09:05.000Z","decided_by":"console token","option":"Deny"}],
			"hooks":[{"hook":"path-guard","action":"ask_user","rule_text":"one"},{"hook":"command-guard","action":"ask_user","rule_text":"two"}]}`,
	}
	server := httptest.NewServer(open(t, console.Options{Approvals: newMemory(), Why: func(_ context.Context, id string) ([]byte, error) { return []byte(stories[id]), nil }}).Handler())
	defer server.Close()
	do(t, ctx, chromedp.Navigate(server.URL+"/#token="+token), holds(linked))
	for id, want := range map[string][]string{
		"late": {
			"answer\ndenied: nobody answered in time", "revealed\nits secrets, to nats admin/ann", "rule\nbuilt into path-guard: /etc/** (w.yaml:1)",
			"skipped: its match was false", "answer discarded: another hook denied or added labels",
		},
		"both": {"answer\ndenied (Deny) by console token", "hooks\npath-guard, command-guard", "rules\none; two"},
	} {
		do(t, ctx, chromedp.Navigate(server.URL+"/why/"+id), holds(`document.querySelectorAll("#why-hooks li").length >= 2`))
		got := value[string](t, ctx, `document.getElementById("why-facts").innerText + "\n" + document.getElementById("why-hooks").innerText`)
		for _, text := range want {
			if !strings.Contains(got, text) {
				t.Errorf("%s: no %q in\n%s", id, text, got)
			}
		}
		if strings.Contains(got, "approved") {
			t.Errorf("%s: a denial is labeled: %s", id, got)
		}
		if n := value[int](t, ctx, `document.querySelectorAll("#why-hooks .decided").length`); id == "both" && n != 2 {
			t.Errorf("%d hooks stand out as those that asked", n)
		}
	}
}

// A page of an agent covers the console with a window and closes it at the first click of a double
// click: the second one decides nothing.
func TestAClickThatClosedAnotherWindowDecidesNothing(t *testing.T) {
	ctx := browser(t)
	svc := newMemory()
	svc.ask(question("q1"))
	server := httptest.NewServer(open(t, console.Options{Approvals: svc}).Handler())
	defer server.Close()
	const click = `document.querySelector("#ask-options button").click()`
	do(t, ctx, chromedp.Navigate(server.URL+"/#token="+token), awake(), run(`dispatchEvent(new Event("focus")); `+click),
		holds(`document.getElementById("toast").textContent.startsWith("Not answered")`))
	if d := svc.decision("q1"); d != nil {
		t.Errorf("decided: %+v", d)
	}
	do(t, ctx, awake(), run(click), holds(closed))
	if d := svc.decision("q1"); d == nil || !d.Granted {
		t.Errorf("a click later: %+v", d)
	}
}
