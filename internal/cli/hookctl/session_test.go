package hookctl_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/hookctl"
	"github.com/hookrouter/hookrouter/internal/testkit/clibus"
	"github.com/hookrouter/hookrouter/internal/testkit/clitest"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

func TestSessionTurnAndEnd(t *testing.T) {
	t.Parallel()
	f := clibus.New(t, hookctl.Run)
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
	f.Run("--text", "session", "end", "nosuch").See(t, cli.ExitOK, "your session nosuch is ended; what it had, if anything, is forgotten\n--agent NAME ends the session of another agent")
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

// The grants of the session's agent and of its tree are shown, but not those of another tree.
func TestShowHasWhatIsGrantedBeyondTheSession(t *testing.T) {
	t.Parallel()
	s := natstest.Listening(t)
	f := &clitest.Fixture{T: t, Hookctl: hookctl.Run, Env: map[string]string{"NATS_URL": s.ClientURL()}, NC: natstest.Conn(t, s)}
	sub, err := f.NC.Subscribe("hooks.session.show", func(m *nats.Msg) {
		reply := `{"session_id":"s2","agent":"nats agent/coder","root":"s1","parent":"s1","depth":1,"injections":[],"grants":[{"hook":"own","prompt":"?","by":"ann"}]}`
		if bytes.Contains(m.Data, []byte(`"grants":true`)) && bytes.Contains(m.Data, []byte(`nats agent/coder`)) {
			reply = `{"grants":[{"scope":"lineage","root":"s1","hook":"tree","prompt":"?","by":"ann","expires":"2026-03-02T12:00:00.000Z"},
				{"scope":"lineage","root":"s9","hook":"other","prompt":"?","by":"ann"},{"scope":"agent","hook":"wide","prompt":"?","by":"ann","expires":"2026-03-02T12:00:00.000Z"}]}`
		}
		_ = m.RespondMsg(&nats.Msg{Header: m.Header, Data: []byte(reply)}) // with the nonce
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = sub.Unsubscribe() }()
	got := f.Run("--text", "session", "show", "s2")
	for _, want := range []string{"own                session  ann", "tree               lineage  ann", "wide               agent    ann", "2026-03-02T12:00:00.000Z", "its end"} {
		if !strings.Contains(got.Stdout, want) {
			t.Errorf("no %q in\n%s%s", want, got.Stdout, got.Stderr)
		}
	}
	if strings.Contains(got.Stdout, "other") {
		t.Errorf("it has what another tree was granted:\n%s", got.Stdout)
	}
}
