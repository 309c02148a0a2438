package attack

import (
	"context"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/dispatch"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/pinned"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/approver"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
	"github.com/hookrouter/hookrouter/pkg/verdict"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// TestARuleAnswersItsOwnQuestion: an agent adds to a call that a rule allows what another pinned
// guard asks about, so that one request has both questions.
func TestARuleAnswersItsOwnQuestion(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		rules          approval.Rules
		asked, permits bool
	}{
		"one is allowed by hook":   {approval.Rules{{Name: "a", Decision: "allow", Hook: "deploy-*"}}, true, false},
		"one is allowed by prompt": {approval.Rules{{Name: "a", Decision: "allow", Prompt: "*Deploy?*"}}, true, false},
		"each is allowed":          {approval.Rules{{Name: "a", Decision: "allow", Hook: "deploy-*"}, {Name: "b", Decision: "allow", Prompt: "Send*"}}, false, true},
		"one is denied":            {approval.Rules{{Name: "a", Decision: "allow", Hook: "*"}, {Name: "b", Decision: "deny", Hook: "send-gate"}}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			guards, err := pinned.New(pinned.Guard{ID: "deploy-gate", Events: []string{"tool:pre"}}, pinned.Guard{ID: "send-gate", Events: []string{"tool:pre"}, Priority: 10})
			if err != nil {
				t.Fatal(err)
			}
			s := natstest.Server(t)
			routertest.Start(t, s, router.Options{Guards: guards, Dispatch: dispatch.Options{Rules: test.rules}}, natsx.Options{Inbox: "_INBOX_router"})
			asks := func(word, prompt string) worker.Handler {
				return func(_ context.Context, ev worker.Event) (worker.Result, error) {
					if strings.Contains(string(ev.Data), word) {
						return worker.Ask(prompt, "Allow", "Deny")
					}
					return worker.Continue()
				}
			}
			guard(t, s, worker.Registration{ID: "deploy-gate"}, asks("deploy", "Deploy?"))
			guard(t, s, worker.Registration{ID: "send-gate", Priority: 10}, asks("send", "Send the secret away?"))
			ctx := testkit.Within(t, testkit.Patience)
			person := approver.New(natstest.Client(t, hookrouter.Options{Conn: natstest.Conn(t, s)}))
			asked := false
			a, err := agent.New(natstest.Client(t, hookrouter.Options{Conn: natstest.Conn(t, s)}), agent.Options{Session: "s1", OnPending: func(q verdict.Approval) {
				_, err := person.Answer(ctx, q.ID, approval.Answer{Option: "Deny"})
				asked = err == nil
			}})
			if err != nil {
				t.Fatal(err)
			}
			x, err := a.Execute(ctx, "tool:pre", command("deploy; send"))
			if err != nil || asked != test.asked || x.Permitted() != test.permits {
				t.Errorf("%+v, %v; a person was asked: %v", x.Verdict, err, asked)
			}
		})
	}
}
