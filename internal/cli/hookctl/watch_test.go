package hookctl_test

import (
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/hookctl"
	"github.com/hookrouter/hookrouter/internal/testkit/clibus"
	"github.com/hookrouter/hookrouter/internal/testkit/clitest"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

func TestWatch(t *testing.T) {
	t.Parallel()
	f := clibus.New(t, hookctl.Run)
	f.Hook(chain.Registration{ID: "guard", Events: []string{"tool:pre"}}, clitest.Answering(chain.Denial("no\x1b[2J")))
	w := f.Start(cli.Process{}, "watch", "tool:*")
	w.Want("watching tool:* with prefix hooks; Ctrl-C ends")
	f.Run("emit", "prompt:submit", "{}") // another event
	f.Run("emit", "tool:pre", `{"n":1}`, "--session", "s1")
	w.Want(
		`{"kind":"event","event":"tool:pre","session_id":"s1","event_id":"ID","chain_id":"ID","source":"/hookctl","time":"TIME","data":{"n":1}}`,
		`{"kind":"result","event":"tool:pre","session_id":"s1","event_id":"ID","chain_id":"ID",`+
			`"result":{"chain_id":"ID","event_id":"ID","session_id":"s1","event":"tool:pre","action":"deny","reason":"no\u001b[2J","denied_by":"guard",`+
			`"hooks":[{"id":"guard","action":"deny","us":0}]}}`,
	)
	f.Run("emit", "error:tool", `{}`) // an alias of tool:error
	if got := w.Line(); !strings.HasPrefix(got, `{"kind":"event","event":"error:tool"`) {
		t.Errorf("line %q; want the alias's event", got)
	}
	w.Line()
	if code := w.End(); code != cli.ExitOK {
		t.Errorf("exit code %d; want %d", code, cli.ExitOK)
	}
}

func TestWatchForPeople(t *testing.T) {
	t.Parallel()
	f := clibus.New(t, hookctl.Run)
	f.Hook(chain.Registration{ID: "guard", Events: []string{"tool:error"}}, clitest.Answering(chain.Denial("no\x1b[2J")))
	w := f.Start(cli.Process{}, "watch", "tool:error", "--text", "--wide", "--session", "s1")
	w.Want("watching tool:error with prefix hooks; Ctrl-C ends")
	f.Run("emit", "tool:error", `{}`) // no session
	f.Run("emit", "error:tool", `{"a":"\u009b2J"}`, "--session", "s1")
	w.Want(
		`CLOCK event   error:tool       s1         {"a":"\u009b2J"}`,
		`CLOCK result  error:tool       s1         deny by guard: no[2J  [guard deny MS]`,
	)
	w.End()
	all := f.Start(cli.Process{}, "watch", "--text", "--wide")
	all.Want("watching * with prefix hooks; Ctrl-C ends")
	for subject, body := range map[string]string{"hooks.result.x": "{"} {
		if err := f.NC.PublishMsg(&nats.Msg{Subject: subject, Data: []byte(body)}); err != nil {
			t.Fatal(err)
		}
	}
	all.Want("CLOCK broken  x                -          read result: unexpected end of JSON input")
	all.End()
}
