package hookctl_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/hookctl"
	"github.com/hookrouter/hookrouter/internal/testkit/clibus"
	"github.com/hookrouter/hookrouter/internal/testkit/clitest"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

func TestApprovalsAreListedShownAndAnswered(t *testing.T) {
	t.Parallel()
	f := clibus.New(t, hookctl.Run)
	f.Run("--text", "approvals").See(t, cli.ExitOK, "no approval request is open")
	f.Run("approvals").See(t, cli.ExitOK, `{"approvals":[],"total":0}`)
	question := chain.Question("Deploy\x1b[2J?", "Allow once", "Deny")
	question.Reason = "production"
	b, id := f.Asking(question, `{"tool_name":"Deploy","n":9007199254740993}`)

	f.Run("--text", "approvals", "--session", "s1").See(t, cli.ExitOK, `
ID                          LEFT   AGE  SESSION  EVENT     HOOK
QUESTION  SPAN  SPAN   s1       tool:pre  deploy-guard
    prompt: Deploy␛[2J?`)
	f.Run("--text", "approvals", "--session", "s2").See(t, cli.ExitOK, "no approval request is open")
	f.Run("approvals", "list").See(t, cli.ExitOK, `{"approvals":[{"id":"QUESTION","session_id":"s1","event":"tool:pre","hook":"deploy-guard",`+
		`"prompt":"Deploy\u001b[2J?","options":["Allow once","Deny"],"default":"deny","created":"TIME","expires":"TIME","data_sha256":"DIGEST"}],"total":1}`)
	f.Run("--text", "approvals", "show", id).See(t, cli.ExitOK, `
QUESTION  waits for an answer; time left: SPAN, then deny

prompt
Deploy␛[2J?

hook     deploy-guard (ask)
tool     Deploy
event    tool:pre
session  s1
agent    hookctl
reason   production
chain    ID
options  Allow once | Deny
sha256   DIGEST

data
session_id: s1
tool_name: Deploy
n: 9007199254740993
timestamp: TIME`)
	var r approval.Record
	if err := json.Unmarshal([]byte(f.Run("approvals", "show", id).Stdout), &r); err != nil || approval.Digest(r.Data) != r.DataSHA256 {
		t.Errorf("record %+v, %v; want the data that was asked about", r, err)
	}

	for _, step := range []struct {
		sentence string
		args     []string
		code     int
		says     string
	}{
		{"an option that is not offered", []string{id, "Maybe"}, cli.ExitRefused, `"Allow once", "Deny"`},
		{"other data", []string{id, "Deny", "--sha256", strings.Repeat("0", 64)}, cli.ExitClosed, "other data"},
		{"an unknown approval request", []string{"nobody", "Deny"}, cli.ExitRefused, "hookctl: answer approval nobody: there is no"},
		{"an id that is none", []string{"a.b", "Deny"}, cli.ExitLocal, "answer approval a.b: the id of an approval has"},
		{"no option", []string{id}, cli.ExitLocal, `say which option: "Allow once", "Deny"` + "\n"},
		{"no option for an unknown approval request", []string{"nobody"}, cli.ExitRefused, "hookctl: answer approval nobody: there is no"},
	} {
		got := f.Run(append([]string{"approvals", "answer"}, step.args...)...)
		if got.Code != step.code || !strings.Contains(got.Stderr, step.says) || got.Stdout != "" {
			t.Errorf("%s: %+v; want %d, %q", step.sentence, got, step.code, step.says)
		}
	}
	f.Run("approvals", "answer", id, "allow ONCE", "--note", "fine", "--sha256", r.DataSHA256).See(t, cli.ExitOK,
		`{"id":"QUESTION","status":"accepted","option":"Allow once"}`)
	if got := b.Line(); !strings.Contains(got, `"verdict":{"action":"continue"`) || !strings.Contains(got, `"option":"Allow once"`) {
		t.Errorf("the agent got %s", got)
	}
	late := f.Run("approvals", "answer", id, "Deny")
	if late.Code != cli.ExitClosed || !strings.Contains(late.Stderr, "Allow once") {
		t.Errorf("a second answer: %+v; want %d and the winner", late, cli.ExitClosed)
	}
	shown := clitest.Still(f.Run("--text", "approvals", "show", id).Stdout)
	for _, want := range []string{`granted, "Allow once" by unauthenticated`, "claims   ME", "note     fine"} {
		if !strings.Contains(shown, want) {
			t.Errorf("show: %s\nwant %q", shown, want)
		}
	}
}

func TestTheNewestRequestIsListedFirst(t *testing.T) {
	t.Parallel()
	f := clibus.New(t, hookctl.Run)
	_, older := f.Asking(chain.Question("Deploy?"), `{"n":1}`)
	f.Run("execute", "tool:pre", `{"n":2}`, "--session", "s1", "--no-wait")
	newest := clitest.ApprovalID.FindString(f.Run("--text", "approvals").Stdout)
	if newest == "" || newest == older {
		t.Errorf("listed first: %q, with the older %q", newest, older)
	}
	for _, format := range []string{"--text", "--json"} {
		if got := f.Run(format, "approvals", "list", "--limit", "1"); strings.Count(got.Stdout, newest) != 1 || strings.Contains(got.Stdout, older) {
			t.Errorf("--limit 1 %s: %+v; want %s", format, got, newest)
		}
	}
}

func TestAnAnswerIsBoundToTheData(t *testing.T) {
	t.Parallel()
	f := clibus.New(t, hookctl.Run)
	sub, err := f.NC.SubscribeSync("hooks.approve.*")
	if err != nil {
		t.Fatal(err)
	}
	if err := f.NC.Flush(); err != nil {
		t.Fatal(err)
	}
	b, id := f.Asking(chain.Question("Really?"))
	f.Run("approvals", "answer", id, "Deny")
	b.Line()
	b.Line()
	msg, err := sub.NextMsgWithContext(t.Context())
	if err != nil || !regexp.MustCompile(`"data_sha256":"[0-9a-f]{64}"`).Match(msg.Data) {
		t.Errorf("%v, %v; want an answer with the digest of the data", msg, err)
	}
}

func TestAnAnswerMayBeAnyText(t *testing.T) {
	t.Parallel()
	f := clibus.New(t, hookctl.Run)
	b, id := f.Asking(chain.Question("Really?"))
	f.Run("--text", "approvals", "answer", id, "ask me tomorrow", "--any-option", "--by", "bridge").See(t, cli.ExitOK, "accepted: ask me tomorrow")
	for _, want := range []string{`"action":"deny"`, "denied: User denied: Really?"} {
		if got := b.Line(); !strings.Contains(got, want) {
			t.Errorf("the agent got %s; want %s", got, want)
		}
	}
	if code := <-b.Code; code != cli.ExitDenied {
		t.Errorf("exit code %d; want %d", code, cli.ExitDenied)
	}
}

func TestApprovalsWatchWritesLines(t *testing.T) {
	t.Parallel()
	f := clibus.New(t, hookctl.Run)
	b, first := f.Asking(chain.Question("Really?\u202e"))
	f.Run("execute", "tool:pre", "--session", "s2", "--no-wait") // not reported
	lines := f.Start(cli.Process{}, "approvals", "watch", "--session", "s1")
	people := f.Start(cli.Process{}, "--text", "--wide", "approvals", "watch", "--session", "s1")
	const question = `"question":{"id":"QUESTION","session_id":"s1","event":"tool:pre","hook":"deploy-guard","prompt":"Really?\u202e",` +
		`"options":["Allow","Deny"],"default":"deny","created":"TIME","expires":"TIME","data_sha256":"DIGEST"}`
	see := func(b *clitest.Background, want string) {
		t.Helper()
		if got := clitest.Still(b.Line()); got != want {
			t.Errorf("line %s\nwant %s", got, want)
		}
	}
	see(lines, `{"kind":"asked",`+question+`}`)
	see(people, "watching approval requests; Ctrl-C ends")
	see(people, `CLOCK QUESTION  s1         deploy-guard: Really?⟨U+202E⟩  asked, SPAN left`)
	f.Run("execute", "tool:pre", "--session", "s2", "--no-wait")
	f.Run("approvals", "answer", first, "Deny", "--by", "ada")
	see(lines, `{"kind":"decided",`+question+`,"decision":{"option":"Deny","granted":false,"decided_by":"unauthenticated","claimed_by":"ada","decided":"TIME"}}`)
	see(people, `CLOCK QUESTION  s1         deploy-guard: Really?⟨U+202E⟩  denied, "Deny" by unauthenticated`)
	for _, b := range []*clitest.Background{lines, people} {
		if code := b.End(); code != cli.ExitOK {
			t.Errorf("exit code %d; want %d", code, cli.ExitOK)
		}
	}
	b.Line()
}

func TestApprovalsRules(t *testing.T) {
	t.Parallel()
	f := &clitest.Fixture{T: t, Hookctl: hookctl.Run, Env: map[string]string{"HOOKCTL_FORMAT": "json"}}
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
			f.With(cli.Process{Stdin: strings.NewReader(`{"h:p":"allow"}`)}, args...).See(t, cli.ExitOK, c.want)
		})
	}
	if err := os.WriteFile(file, []byte("rules:\n  - {decision: allow, hook: h, labels: {none: ['*']}, emitter: {role: agent}}\n  - {decision: deny, tool: Write}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const where = "RULE    DECISION  HOOK  TOOL   PROMPT  WHERE\nrule 1  allow     h     *      *       labels none *, role agent\nrule 2  deny      *     Write  *"
	f.Run("approvals", "rules", "--text", "--hook", "h", "--emitter", "nats agent/a", "--role", "agent", file).See(t, cli.ExitOK, where+"\n\nallow by rule 1")
	f.Run("approvals", "rules", "--text", "--hook", "h", "--emitter", "nats agent/a", "--role", "agent", "--label", "secret-read", file).See(t, cli.ExitOK, where+"\n\nno rule matches: a person is asked")
	shadow := "rules:\n  - {name: checks, decision: allow, mode: shadow, tool: Bash, command: acme check conf/*.yaml, tests: [{command: acme check conf/a.yaml, expect: allow}, {command: acme rm, expect: allow}]}\n"
	if err := os.WriteFile(file, []byte(shadow), 0o600); err != nil {
		t.Fatal(err)
	}
	f.Run("approvals", "rules", "--text", "--tool", "Bash", "--command", "acme check conf/b.yaml", file).See(t, cli.ExitLocal, strings.ReplaceAll(`
RULE    DECISION      HOOK  TOOL  PROMPT  WHERE
checks  allow shadow  *     Bash  *       command acme check conf/*.yaml
FILE:2: checks: no rule matches, where allow is expected

2 tests, 1 failed

a person is asked; in shadow, checks would allow`, "FILE", file))
	if err := os.WriteFile(file, []byte("rules:\n  - decision: maybe\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := f.Run("approvals", "rules", file); got.Code != cli.ExitLocal || !strings.Contains(got.Stderr, "rules.yaml:2:") || got.Stdout != "" {
		t.Errorf("%+v; want the place of the fault", got)
	}
	if got := f.Run("approvals", "rules", file+"x"); got.Code != cli.ExitLocal || !strings.Contains(got.Stderr, "no such file") {
		t.Errorf("%+v; want that there is no such file", got)
	}
}

// An edit is shown as one diff below its path, with real line breaks. On a terminal, the path and
// the changed words are highlighted.
func TestAnEditIsShownAsADiff(t *testing.T) {
	t.Parallel()
	f := clibus.New(t, hookctl.Run)
	b, id := f.Asking(chain.Question("Edit?"), `{"tool_name":"Edit","tool_input":{"file_path":"/srv/main.go","old_string":"one\ntwo old three\nfour\n","new_string":"one\ntwo new three\nfour\n"}}`)
	shown := f.Run("--text", "approvals", "show", id).Stdout
	at := -1
	for _, want := range []string{"path\n/srv/main.go\n", "old_string → new_string: 1 line removed, 1 added\n  one\n- two old three\n+ two new three\n  four\n", "prompt\nEdit?", "data\n"} {
		next := strings.Index(shown, want)
		if next <= at {
			t.Errorf("%q is not there, or too early:\n%s", want, shown)
		}
		at = next
	}
	if strings.Contains(shown, `\n`) {
		t.Errorf("a line break is spelt out:\n%s", shown)
	}
	painted := f.With(cli.Process{Terminal: true}, "--text", "approvals", "show", id).Stdout
	for _, want := range []string{"\x1b[1;33m/srv/main.go\x1b[0m", "- two \x1b[7mold\x1b[27m three", "+ two \x1b[7mnew\x1b[27m three"} {
		if !strings.Contains(painted, want) {
			t.Errorf("%q does not stand out:\n%q", want, painted)
		}
	}
	f.Run("approvals", "answer", id, "Deny")
	b.Line()
}
