package hookctl_test

import (
	"context"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/hookctl"
	"github.com/hookrouter/hookrouter/internal/cli/jsonedit"
	"github.com/hookrouter/hookrouter/internal/testkit/clibus"
	"github.com/hookrouter/hookrouter/internal/testkit/clitest"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

func TestExecuteShowsTheVerdict(t *testing.T) {
	t.Parallel()
	f := clibus.New(t, hookctl.Run)
	f.Run("execute", "tool:post", `{"n":9007199254740993}`).Want(t, cli.ExitOK,
		`{"event":"tool:post","event_id":"ID","chain_id":"ID","hooks":0,"verdict":{"action":"continue","data":{"n":9007199254740993},"injected_tokens":0}}`, "")
	f.Hook(chain.Registration{ID: "editor", Events: []string{"tool:post"}, Priority: 1}, func(_ context.Context, ev worker.Event) (worker.Result, error) {
		return worker.Modify(jsonedit.Merge(ev.Data, []byte(`{"seen":true}`)))
	})
	f.Hook(chain.Registration{ID: "lint", Events: []string{"tool:post"}, Priority: 2}, clitest.Answering(chain.Result{
		Action: chain.InjectContext, ContextInjection: "2 find\x1b[2Jings", Ephemeral: true,
		UserMessage: "look\nhere", UserMessageLevel: chain.LevelWarning, SuppressOutput: true,
	}))
	f.Run("--text", "execute", "tool:post", "--session", "s1", "--set", "a=1").Want(t, cli.ExitOK, `
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
	t.Parallel()
	f := clibus.New(t, hookctl.Run)
	f.Hook(chain.Registration{ID: "guard", Events: []string{"tool:pre"}}, clitest.Answering(chain.Result{
		Action: chain.Deny, Reason: "no rm\x1b[2J here", Data: []byte(`{"rule":7}`),
	}))
	f.Run("execute", "tool:pre").Want(t, cli.ExitDenied,
		`{"event":"tool:pre","event_id":"ID","chain_id":"ID","hooks":1,"denied_by":"guard",`+
			`"verdict":{"action":"deny","reason":"no rm\u001b[2J here","data":{"rule":7},"injected_tokens":0}}`, "denied: no rm␛[2J here")
	f.Run("--text", "execute", "tool:pre").Want(t, cli.ExitDenied, `
deny       no rm␛[2J here
denied by  guard
hooks      1 called
event      ID
chain      ID`, "")
}

func TestExecuteSaysWhatIsPending(t *testing.T) {
	t.Parallel()
	f := clibus.New(t, hookctl.Run)
	f.Hook(chain.Registration{ID: "ask", Events: []string{"tool:pre"}}, clitest.Answering(chain.Question("Really?", "Allow once", "Deny")))
	for sentence, args := range map[string][]string{
		"without waiting": {"--no-wait"}, "after the wait": {"--wait", "1s"},
	} {
		t.Run(sentence, func(t *testing.T) {
			f := &clitest.Fixture{T: t, Hookctl: f.Hookctl, Env: f.Env, NC: f.NC}
			got := f.Run(append([]string{"--text", "execute", "tool:pre", "--session", "s1"}, args...)...)
			got.See(t, cli.ExitPending, `
pending
asked     Really? [Allow once | Deny]
answer    none yet; it can be given until TIME
approval  QUESTION
answer it with: hookctl approvals answer QUESTION OPTION`)
			if waited := clitest.Still(got.Stderr) == "waiting for an answer to QUESTION: Really? [Allow once | Deny]; answer it with: hookctl approvals answer QUESTION OPTION"; waited != (sentence == "after the wait") {
				t.Errorf("stderr %q", got.Stderr)
			}
		})
	}
	got := f.Run("execute", "tool:pre", "--no-wait")
	if got.Code != cli.ExitPending || !strings.HasPrefix(got.Stdout, `{"event":"tool:pre","verdict":{"action":"pending"`) ||
		clitest.Still(got.Stderr) != "a person is asked and has not answered: QUESTION; answer it with: hookctl approvals answer QUESTION OPTION" {
		t.Errorf("%+v", got)
	}
}

func TestExecuteWaitsAsLongAsTheQuestionIsOpen(t *testing.T) {
	t.Parallel()
	f := clibus.New(t, hookctl.Run)
	question, second := chain.Question("Really?"), 1.0
	question.ApprovalTimeout = &second
	f.Hook(chain.Registration{ID: "ask", Events: []string{"tool:pre"}}, clitest.Answering(question))
	if got := f.Run("--text", "execute", "tool:pre"); got.Code != cli.ExitDenied || !strings.Contains(got.Stdout, "none came in time") {
		t.Errorf("%+v; want the decision that its time brought", got)
	}
	if got := f.Run("execute", "--help"); !strings.Contains(strings.Join(strings.Fields(got.Stdout), " "),
		"--wait=DURATION Time for all of it, including a person's answer; default: until the approval request is decided.") {
		t.Errorf("%s\nwant that it waits until the approval request is decided", got.Stdout)
	}
	f.Run("execute", "tool:pre", "--wait=0s").Want(t, cli.ExitLocal, "", "hookctl: --wait is 0s: at least 1ms is needed")
}

func TestExecuteTellsOfTheAnswer(t *testing.T) {
	t.Parallel()
	f := clibus.New(t, hookctl.Run)
	b, id := f.Asking(chain.Question("Really?", "Allow always", "Deny"), "--text")
	f.Run("approvals", "answer", id, "allow always")
	for _, want := range []string{
		"continue", "asked     Really? [Allow always | Deny]", "answer    Allow always, by unauthenticated",
		"approval  QUESTION", "hooks     1 called", "event     ID", "chain     ID",
	} {
		if got := clitest.Still(b.Line()); got != want {
			t.Errorf("line %q; want %q", got, want)
		}
	}
	f.Run("--text", "execute", "tool:pre", "--session", "s1").See(t, cli.ExitOK, `
continue
asked     Really? [Allow always | Deny]
answer    Allow always, given before by unauthenticated
approval  QUESTION
hooks     1 called
event     ID
chain     ID`)

	f.Run("--text", "session", "show", "s1").See(t, cli.ExitOK, `
session        s1
turn           0
injected       0 of 10000 tokens in this turn
one injection  at most 10240 bytes

ALWAYS GRANTED TO  FOR THE  BY               SINCE                     UNTIL
deploy-guard       session  unauthenticated  TIME  its end
    prompt: Really?`)
	f.Run("--text", "session", "revoke", "s1", "--hook", "other").See(t, cli.ExitOK, "there is no such grant; `hookctl session show` lists them")
	f.Run("session", "revoke", "s1", "--hook", "deploy-guard", "--prompt", "Really?").See(t, cli.ExitOK, `{"session_id":"s1","revoked":1}`)
	f.Run("--text", "execute", "tool:pre", "--session", "s1", "--no-wait").See(t, cli.ExitPending, `
pending
asked     Really? [Allow always | Deny]
answer    none yet; it can be given until TIME
approval  QUESTION
answer it with: hookctl approvals answer QUESTION OPTION`)
}

func TestAnInterruptionEndsExecute(t *testing.T) {
	t.Parallel()
	f := clibus.New(t, hookctl.Run)
	b, id := f.Asking(chain.Question("Really?"))
	if code := b.End(); code != cli.ExitLocal {
		t.Errorf("exit code %d; want %d", code, cli.ExitLocal)
	}
	if got := b.Line(); !strings.Contains(got, "approval request "+id) || !strings.Contains(got, "is still open") {
		t.Errorf("line %q; want that the request is still open", got)
	}
	f.Run("--text", "approvals", "answer", id, "Deny").See(t, cli.ExitOK, "accepted: Deny")
}
