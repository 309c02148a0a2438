package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// still is settled, without the name of who runs the test.
func still(text string) string { return settled(strings.ReplaceAll(text, osUser(), "ME")) }

// asking serves a hook that asks, and starts an execution that is asked for. It
// returns the question's id.
func (f *fixture) asking(result chain.Result, args ...string) (*background, string) {
	f.t.Helper()
	f.hook(chain.Registration{ID: "ask", Name: "deploy-guard", Events: []string{"tool:pre"}}, answering(result))
	return f.asked(args...)
}

// asked starts one more execution of what is asked.
func (f *fixture) asked(args ...string) (*background, string) {
	f.t.Helper()
	b := f.start(process{}, append([]string{"execute", "tool:pre", "--session", "s1"}, args...)...)
	line := b.line()
	id := questionID.FindString(line)
	if id == "" {
		f.t.Fatalf("line %q; want the id of a question", line)
	}
	return b, id
}

// see compares an outcome after still; blanks at the ends do not matter.
func (o outcome) see(t *testing.T, code int, stdout string) {
	t.Helper()
	if o.code != code {
		t.Errorf("exit code %d; want %d; stderr %s", o.code, code, o.stderr)
	}
	if diff := cmp.Diff(strings.TrimSpace(stdout), still(o.stdout)); diff != "" {
		t.Errorf("stdout (-want +got):\n%s", diff)
	}
}

func TestApprovalsAreListedShownAndAnswered(t *testing.T) {
	f := newFixture(t)
	f.run("--text", "approvals").see(t, exitOK, "no question waits for an answer")
	f.run("approvals").see(t, exitOK, `{"approvals":[],"total":0}`)
	question := chain.Question("Deploy\x1b[2J?", "Allow once", "Deny")
	question.Reason = "production"
	b, id := f.asking(question, `{"tool_name":"Deploy","n":9007199254740993}`)

	f.run("--text", "approvals", "--session", "s1").see(t, exitOK, `
ID                          LEFT   AGE  SESSION  EVENT     HOOK          PROMPT
QUESTION  SPAN  SPAN   s1       tool:pre  deploy-guard  Deploy␛[2J?`)
	f.run("--text", "approvals", "--session", "s2").see(t, exitOK, "no question waits for an answer")
	f.run("approvals", "list").see(t, exitOK, `{"approvals":[{"id":"QUESTION","session_id":"s1","event":"tool:pre","hook":"deploy-guard",`+
		`"prompt":"Deploy\u001b[2J?","options":["Allow once","Deny"],"default":"deny","created":"TIME","expires":"TIME","data_sha256":"DIGEST"}],"total":1}`)
	f.run("--text", "approvals", "show", id).see(t, exitOK, `
QUESTION  waits for an answer
left                        SPAN, then deny
hook                        deploy-guard (ask)
tool                        Deploy
event                       tool:pre
session                     s1
agent                       /hookctl
reason                      production
options                     Allow once | Deny
sha256                      DIGEST

prompt
Deploy␛[2J?

changed since it was emitted
+ session_id: "s1"

data
{
  "session_id": "s1",
  "tool_name": "Deploy",
  "n": 9007199254740993,
  "timestamp": "TIME"
}`)
	var r approval.Record
	if err := json.Unmarshal([]byte(f.run("approvals", "show", id).stdout), &r); err != nil || approval.Digest(r.Data) != r.DataSHA256 {
		t.Errorf("record %+v, %v; want the data that was asked about", r, err)
	}

	for _, step := range []struct {
		sentence string
		args     []string
		code     int
		says     string
	}{
		{"an option that is not offered", []string{id, "Maybe"}, exitRefused, `"Allow once", "Deny"`},
		{"other data", []string{id, "Deny", "--sha256", strings.Repeat("0", 64)}, exitClosed, "other data"},
		{"an unknown question", []string{"nobody", "Deny"}, exitRefused, "hookctl: answer approval nobody: there is no"},
		{"an id that is none", []string{"a.b", "Deny"}, exitLocal, "answer approval a.b: the id of an approval has"},
		{"no option", []string{id}, exitLocal, `say which option: "Allow once", "Deny"` + "\n"},
		{"no option for an unknown question", []string{"nobody"}, exitRefused, "hookctl: answer approval nobody: there is no"},
	} {
		got := f.run(append([]string{"approvals", "answer"}, step.args...)...)
		if got.code != step.code || !strings.Contains(got.stderr, step.says) || got.stdout != "" {
			t.Errorf("%s: %+v; want %d, %q", step.sentence, got, step.code, step.says)
		}
	}
	f.run("approvals", "answer", id, "allow ONCE", "--note", "fine", "--sha256", r.DataSHA256).see(t, exitOK,
		`{"id":"QUESTION","status":"accepted","option":"Allow once"}`)
	if got := b.line(); !strings.Contains(got, `"verdict":{"action":"continue"`) || !strings.Contains(got, `"option":"Allow once"`) {
		t.Errorf("the agent got %s", got)
	}
	late := f.run("approvals", "answer", id, "Deny")
	if late.code != exitClosed || !strings.Contains(late.stderr, "Allow once") {
		t.Errorf("a second answer: %+v; want %d and the winner", late, exitClosed)
	}
	shown := still(f.run("--text", "approvals", "show", id).stdout)
	for _, want := range []string{`granted, "Allow once" by unauthenticated`, "claims                      ME", "note                        fine"} {
		if !strings.Contains(shown, want) {
			t.Errorf("show: %s\nwant %q", shown, want)
		}
	}
}

func TestAnAnswerIsBoundToTheData(t *testing.T) {
	f := newFixture(t)
	sub, err := f.nc.SubscribeSync("hooks.approve.*")
	if err != nil {
		t.Fatal(err)
	}
	if err := f.nc.Flush(); err != nil {
		t.Fatal(err)
	}
	b, id := f.asking(chain.Question("Really?"))
	f.run("approvals", "answer", id, "Deny")
	b.line()
	b.line()
	msg, err := sub.NextMsgWithContext(t.Context())
	if err != nil || !regexp.MustCompile(`"data_sha256":"[0-9a-f]{64}"`).Match(msg.Data) {
		t.Errorf("%v, %v; want an answer with the digest of the data", msg, err)
	}
}

func TestAnAnswerThatComesTooLateHasAnExitCode(t *testing.T) {
	for code, want := range map[int]int{400: exitRefused, 404: exitRefused, 409: exitClosed, 410: exitClosed, 503: exitRefused} {
		if got := exitOf(closedOr(fmt.Errorf("answer: %w", wire.Errorf(code, "refused")))); got != want {
			t.Errorf("a refusal with %d: exit code %d; want %d", code, got, want)
		}
	}
}

func TestAnAnswerMayBeAnyText(t *testing.T) {
	f := newFixture(t)
	b, id := f.asking(chain.Question("Really?"))
	f.run("--text", "approvals", "answer", id, "ask me tomorrow", "--any-option", "--by", "bridge").see(t, exitOK, "accepted: ask me tomorrow")
	for _, want := range []string{`"action":"deny"`, "denied: User denied: Really?"} {
		if got := b.line(); !strings.Contains(got, want) {
			t.Errorf("the agent got %s; want %s", got, want)
		}
	}
	if code := <-b.code; code != exitDenied {
		t.Errorf("exit code %d; want %d", code, exitDenied)
	}
}

func TestApprovalsWatchWritesLines(t *testing.T) {
	f := newFixture(t)
	b, first := f.asking(chain.Question("Really?\u202e"))
	f.run("execute", "tool:pre", "--session", "s2", "--no-wait") // is not told of
	lines := f.start(process{}, "approvals", "watch", "--session", "s1")
	people := f.start(process{}, "--text", "approvals", "watch", "--session", "s1")
	const question = `"question":{"id":"QUESTION","session_id":"s1","event":"tool:pre","hook":"deploy-guard","prompt":"Really?\u202e",` +
		`"options":["Allow","Deny"],"default":"deny","created":"TIME","expires":"TIME","data_sha256":"DIGEST"}`
	see := func(b *background, want string) {
		t.Helper()
		if got := still(b.line()); got != want {
			t.Errorf("line %s\nwant %s", got, want)
		}
	}
	see(lines, `{"kind":"asked",`+question+`}`)
	see(people, `CLOCK QUESTION  s1         deploy-guard: Really?⟨U+202E⟩  asked, SPAN left`)
	f.run("execute", "tool:pre", "--session", "s2", "--no-wait")
	f.run("approvals", "answer", first, "Deny", "--by", "ada")
	see(lines, `{"kind":"decided",`+question+`,"decision":{"option":"Deny","granted":false,"decided_by":"unauthenticated","claimed_by":"ada","decided":"TIME"}}`)
	see(people, `CLOCK QUESTION  s1         deploy-guard: Really?⟨U+202E⟩  denied, "Deny" by unauthenticated`)
	for _, b := range []*background{lines, people} {
		if code := b.end(); code != exitOK {
			t.Errorf("exit code %d; want %d", code, exitOK)
		}
	}
	b.line()
}

func TestApprovalsRules(t *testing.T) {
	f := &fixture{t, nil, nil}
	file := filepath.Join(t.TempDir(), "rules.yaml")
	if err := os.WriteFile(file, []byte(`
rules:
  - name: staging is fine
    decision: allow
    hook: deploy-*
    prompt: "Deploy to staging*"
  - decision: deny
    tool: Write
`), 0o600); err != nil {
		t.Fatal(err)
	}
	const table = `
RULE             DECISION  HOOK      TOOL   PROMPT
staging is fine  allow     deploy-*  *      Deploy to staging*
rule 2           deny      *         Write  *
`
	const list = `{"rules":[{"name":"staging is fine","decision":"allow","hook":"deploy-*","prompt":"Deploy to staging*"},{"name":"rule 2","decision":"deny","tool":"Write"}]`
	for sentence, c := range map[string]struct {
		args []string
		want string
	}{
		"the rules alone":         {[]string{"--text"}, table},
		"the rules as JSON":       {nil, list + "}"},
		"what a rule grants":      {[]string{"--text", "--hook", "deploy-guard", "--prompt", "Deploy to staging 2?"}, table + "\nallow by staging is fine"},
		"a denial wins":           {[]string{"--text", "--hook", "deploy-guard", "--prompt", "Deploy to staging", "--tool", "Write"}, table + "\ndeny by rule 2"},
		"what nothing matches":    {[]string{"--text", "--hook", "other"}, table + "\nno rule matches: a person is asked"},
		"the same as JSON":        {[]string{"--hook", "other"}, list + `,"decision":"ask"}`},
		"what matches, as JSON":   {[]string{"--tool", "Write"}, list + `,"decision":"deny","by":{"name":"rule 2","decision":"deny","tool":"Write"}}`},
		"the standard input also": {[]string{"--text", "-"}, "RULE    DECISION  HOOK  TOOL  PROMPT\nrule 1  allow     h     *     p"},
	} {
		t.Run(sentence, func(t *testing.T) {
			args := append([]string{"approvals", "rules"}, c.args...)
			if !strings.HasPrefix(sentence, "the standard input") {
				args = append(args, file)
			}
			f.with(process{stdin: strings.NewReader(`{"h:p":"allow"}`)}, args...).see(t, exitOK, c.want)
		})
	}
	if err := os.WriteFile(file, []byte("rules:\n  - decision: maybe\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := f.run("approvals", "rules", file); got.code != exitLocal || !strings.Contains(got.stderr, "rules.yaml:2:") || got.stdout != "" {
		t.Errorf("%+v; want the place of the fault", got)
	}
	if got := f.run("approvals", "rules", file+"x"); got.code != exitLocal || !strings.Contains(got.stderr, "no such file") {
		t.Errorf("%+v; want that there is no such file", got)
	}
}
