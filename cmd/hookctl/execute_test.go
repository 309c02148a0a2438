package main

import (
	"context"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

func TestExecuteShowsTheVerdict(t *testing.T) {
	f := newFixture(t)
	f.run("execute", "tool:post", `{"n":9007199254740993}`).want(t, exitOK,
		`{"event":"tool:post","event_id":"ID","chain_id":"ID","hooks":0,"verdict":{"action":"continue","data":{"n":9007199254740993},"injected_tokens":0}}`, "")
	f.hook(chain.Registration{ID: "editor", Events: []string{"tool:post"}, Priority: 1}, func(_ context.Context, ev worker.Event) (worker.Result, error) {
		return worker.Modify(mergePatch(ev.Data, []byte(`{"seen":true}`)))
	})
	f.hook(chain.Registration{ID: "lint", Events: []string{"tool:post"}, Priority: 2}, answering(chain.Result{
		Action: chain.InjectContext, ContextInjection: "2 find\x1b[2Jings", Ephemeral: true,
		UserMessage: "look\nhere", UserMessageLevel: chain.LevelWarning, SuppressOutput: true,
	}))
	f.run("--text", "execute", "tool:post", "--session", "s1", "--set", "a=1").want(t, exitOK, `
continue
changed    seen added: true
message    system from lint (ephemeral): 2 findings
display    warning from lint: look⏎here
hidden     the output of lint
sanitized  lint: 4 control or invisible characters were removed
hooks      2 called
event      ID
chain      ID`, "")
}

func TestExecuteShowsADenial(t *testing.T) {
	f := newFixture(t)
	f.hook(chain.Registration{ID: "guard", Events: []string{"tool:pre"}}, answering(chain.Result{
		Action: chain.Deny, Reason: "no rm\x1b[2J here", Data: []byte(`{"rule":7}`),
	}))
	f.run("execute", "tool:pre").want(t, exitDenied,
		`{"event":"tool:pre","event_id":"ID","chain_id":"ID","hooks":1,"denied_by":"guard",`+
			`"verdict":{"action":"deny","reason":"no rm\u001b[2J here","data":{"rule":7},"injected_tokens":0}}`, "denied: no rm␛[2J here")
	f.run("--text", "execute", "tool:pre").want(t, exitDenied, `
deny       no rm␛[2J here
denied by  guard
hooks      1 called
event      ID
chain      ID`, "")
}

func TestExecuteSaysWhatIsPending(t *testing.T) {
	f := newFixture(t)
	f.hook(chain.Registration{ID: "ask", Events: []string{"tool:pre"}}, answering(chain.Question("Really?", "Allow once", "Deny")))
	for sentence, args := range map[string][]string{
		"without waiting": {"--no-wait"}, "after the wait": {"--wait", "1s"},
	} {
		t.Run(sentence, func(t *testing.T) {
			f := &fixture{t, f.env, f.nc}
			got := f.run(append([]string{"--text", "execute", "tool:pre", "--session", "s1"}, args...)...)
			got.see(t, exitPending, `
pending
asked     Really? [Allow once | Deny]
answer    none yet; it can be given until TIME
approval  QUESTION
answer it with: hookctl approvals answer QUESTION OPTION`)
			if waited := still(got.stderr) == "waiting for an answer to QUESTION: Really? [Allow once | Deny]; answer it with: hookctl approvals answer QUESTION OPTION"; waited != (sentence == "after the wait") {
				t.Errorf("stderr %q", got.stderr)
			}
		})
	}
	got := f.run("execute", "tool:pre", "--no-wait")
	if got.code != exitPending || !strings.HasPrefix(got.stdout, `{"event":"tool:pre","verdict":{"action":"pending"`) ||
		still(got.stderr) != "a person is asked and has not answered: QUESTION; answer it with: hookctl approvals answer QUESTION OPTION" {
		t.Errorf("%+v", got)
	}
}

func TestExecuteWaitsAsLongAsTheQuestionIsOpen(t *testing.T) {
	f := newFixture(t)
	question, second := chain.Question("Really?"), 1.0
	question.ApprovalTimeout = &second
	f.hook(chain.Registration{ID: "ask", Events: []string{"tool:pre"}}, answering(question))
	if got := f.run("--text", "execute", "tool:pre"); got.code != exitDenied || !strings.Contains(got.stdout, "none came in time") {
		t.Errorf("%+v; want the decision that its time brought", got)
	}
	if got := f.run("execute", "--help"); !strings.Contains(strings.Join(strings.Fields(got.stdout), " "),
		"--wait=DURATION Time for all, for a person to answer too; default: until the question is decided.") {
		t.Errorf("%s\nwant that it waits until the question is decided", got.stdout)
	}
	f.run("execute", "tool:pre", "--wait=0s").want(t, exitLocal, "", "hookctl: --wait is 0s: at least 1ms is needed")
}

func TestExecuteTellsOfTheAnswer(t *testing.T) {
	f := newFixture(t)
	b, id := f.asking(chain.Question("Really?", "Allow always", "Deny"), "--text")
	f.run("approvals", "answer", id, "allow always")
	for _, want := range []string{
		"continue", "asked     Really? [Allow always | Deny]", "answer    Allow always, by unauthenticated",
		"approval  QUESTION", "hooks     1 called", "event     ID", "chain     ID",
	} {
		if got := still(b.line()); got != want {
			t.Errorf("line %q; want %q", got, want)
		}
	}
	f.run("--text", "execute", "tool:pre", "--session", "s1").see(t, exitOK, `
continue
asked     Really? [Allow always | Deny]
answer    Allow always, given before by unauthenticated
approval  QUESTION
hooks     1 called
event     ID
chain     ID`)

	f.run("--text", "session", "show", "s1").see(t, exitOK, `
session        s1
turn           0
injected       0 of 10000 tokens in this turn
one injection  at most 10240 bytes

ALWAYS GRANTED TO  BY               SINCE                     PROMPT
deploy-guard       unauthenticated  TIME  Really?`)
	f.run("--text", "session", "revoke", "s1", "--hook", "other").see(t, exitOK, "there is no such grant; `hookctl session show` lists them")
	f.run("session", "revoke", "s1", "--hook", "deploy-guard", "--prompt", "Really?").see(t, exitOK, `{"session_id":"s1","revoked":1}`)
	f.run("--text", "execute", "tool:pre", "--session", "s1", "--no-wait").see(t, exitPending, `
pending
asked     Really? [Allow always | Deny]
answer    none yet; it can be given until TIME
approval  QUESTION
answer it with: hookctl approvals answer QUESTION OPTION`)
}

func TestAnInterruptionEndsExecute(t *testing.T) {
	f := newFixture(t)
	b, id := f.asking(chain.Question("Really?"))
	if code := b.end(); code != exitLocal {
		t.Errorf("exit code %d; want %d", code, exitLocal)
	}
	if got := b.line(); !strings.Contains(got, "question "+id) || !strings.Contains(got, "is still open") {
		t.Errorf("line %q; want that the question is still open", got)
	}
	f.run("--text", "approvals", "answer", id, "Deny").see(t, exitOK, "accepted: Deny")
}

func TestSessionTurnAndEnd(t *testing.T) {
	f := newFixture(t)
	f.hook(chain.Registration{ID: "lint", Events: []string{"tool:post"}}, answering(chain.Injection("twelve chars")))
	f.run("execute", "tool:post", "--session", "s1")
	f.run("--text", "session", "show", "s1").see(t, exitOK, `
session        s1
turn           0
injected       3 of 10000 tokens in this turn
one injection  at most 10240 bytes

INJECTED BY  ON         BYTES  TOKENS  TIME
lint         tool:post  12     3       TIME`)
	f.run("--text", "session", "turn", "s1").see(t, exitOK, "a new turn of session s1 begins")
	f.run("session", "show", "s1").see(t, exitOK, `{"session_id":"s1","turn":1,"injected_tokens":0,"budget":10000,"size_limit":10240,`+
		`"injections":[],"grants":[]}`)
	f.run("session", "end", "s1").see(t, exitOK, `{"session_id":"s1","told":"end"}`)
	if got := f.run("--text", "session", "show", "s1"); !strings.Contains(got.stdout, "ended") || strings.Contains(got.stdout, "lint") {
		t.Errorf("%+v; want that the session is ended", got)
	}
	f.run("--text", "session", "end", "nosuch").see(t, exitOK, "session nosuch is ended; what it had, if anything, is forgotten")
	f.run("--text", "session", "show", "nobody\x1b").see(t, exitOK, "nothing is remembered of session nobody␛")
	if got := f.run("session", "turn", ""); got.code != exitLocal || !strings.Contains(got.stderr, "no session") {
		t.Errorf("%+v; want that a session is needed", got)
	}
}
