package session_test

import (
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/testkit/clitest"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

func TestSessionTurnAndEnd(t *testing.T) {
	f := clitest.New(t, hookctl)
	f.Hook(chain.Registration{ID: "lint", Events: []string{"tool:post"}}, clitest.Answering(chain.Injection("twelve chars")))
	f.Run("execute", "tool:post", "--session", "s1")
	f.Run("--text", "session", "show", "s1").See(t, cli.ExitOK, `
session        s1
turn           0
injected       3 of 10000 tokens in this turn
one injection  at most 10240 bytes

INJECTED BY  ON         BYTES  TOKENS  TIME
lint         tool:post  12     3       TIME`)
	f.Run("--text", "session", "turn", "s1").See(t, cli.ExitOK, "a new turn of session s1 begins")
	f.Run("session", "show", "s1").See(t, cli.ExitOK, `{"session_id":"s1","turn":1,"injected_tokens":0,"budget":10000,"size_limit":10240,`+
		`"injections":[],"grants":[]}`)
	f.Run("session", "end", "s1").See(t, cli.ExitOK, `{"session_id":"s1","told":"end"}`)
	if got := f.Run("--text", "session", "show", "s1"); !strings.Contains(got.Stdout, "ended") || strings.Contains(got.Stdout, "lint") {
		t.Errorf("%+v; want that the session is ended", got)
	}
	f.Run("--text", "session", "end", "nosuch").See(t, cli.ExitOK, "session nosuch is ended; what it had, if anything, is forgotten")
	f.Run("--text", "session", "show", "nobody\x1b").See(t, cli.ExitOK, "nothing is remembered of session nobody␛")
	f.Run("--text", "session", "end", "s1", "--agent", "nats agent/coder").See(t, cli.ExitOK, "session s1 of nats agent/coder is ended; what it had is forgotten")
	f.Run("session", "end", "s1", "--agent", "nats agent/coder").See(t, cli.ExitOK, `{"session_id":"s1","told":"end","agent":"nats agent/coder"}`)
	if got := f.Run("session", "end", "s1", "--agent", "rival"); got.Code != cli.ExitRefused || !strings.Contains(got.Stderr, "name the agent as records do") {
		t.Errorf("%+v; want that nobody of that name is known", got)
	}
	if got := f.Run("session", "turn", ""); got.Code != cli.ExitLocal || !strings.Contains(got.Stderr, "no session") {
		t.Errorf("%+v; want that a session is needed", got)
	}
}
