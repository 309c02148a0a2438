package hookctl_test

import (
	"context"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/hookctl"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/server/embedded"
	"github.com/hookrouter/hookrouter/internal/testkit/clibus"
	"github.com/hookrouter/hookrouter/internal/testkit/clitest"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

func TestApprovalsWatchAsksOnATerminal(t *testing.T) {
	t.Parallel()
	f := clibus.New(t, hookctl.Run)
	b, id := f.Asking(chain.Question("Deploy this?", "Allow once", "Deny"))
	keys, typing := io.Pipe()
	screen := make(terminal, 1000)
	code := make(chan int, 1)
	go func() {
		var stderr strings.Builder
		code <- hookctl.Run(t.Context(), []string{"--text", "approvals", "watch", "--by", "ada"}, cli.Process{
			Stdin: keys, Stdout: screen, Stderr: &stderr, Getenv: func(name string) string { return f.Env[name] }, Terminal: true,
		})
	}()
	screen.until(t, "Deploy this?")
	press := func(key string) {
		if _, err := io.WriteString(typing, key); err != nil {
			t.Error(err)
		}
	}
	// Input that arrives too early is ignored, so the test types the note until it appears.
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for stands := false; !stands; {
		select {
		case more := <-screen:
			stands = strings.Contains(more, "keeps the note")
		case <-tick.C:
			press("n")
		}
	}
	press("ote\r")
	press("\x1b[A\r")
	if got := b.Line(); !strings.Contains(got, `"action":"continue"`) {
		t.Errorf("the agent got %s; want that it goes on", got)
	}
	screen.until(t, "answered: Allow once")
	press("\x03")
	if got := <-code; got != cli.ExitOK {
		t.Errorf("exit code %d; want %d", got, cli.ExitOK)
	}
	_ = typing.Close()
	shown := f.Run("--text", "approvals", "show", id).Stdout
	if !strings.Contains(shown, "ada") || !strings.Contains(shown, "ote") {
		t.Errorf("%s\nwant who answered, and the note", shown)
	}
}

func TestTheAskerTellsOfTheConnection(t *testing.T) {
	t.Parallel()
	s := natstest.Listening(t)
	routertest.Start(t, s, router.Options{})
	f := &clitest.Fixture{T: t, Hookctl: hookctl.Run, Env: map[string]string{"HOOKCTL_FORMAT": "json", "NATS_URL": s.ClientURL()}, NC: natstest.Conn(t, s)}
	f.Hook(chain.Registration{ID: "ask", Events: []string{"tool:pre"}}, clitest.Answering(chain.Question("Deploy this?")))
	id := clitest.ApprovalID.FindString(f.Run("execute", "tool:pre", "--no-wait").Stdout)

	screen, code := make(terminal, 1000), make(chan int, 1)
	var stderr clitest.Diagnostics
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	keys, typing := io.Pipe()
	defer typing.Close()
	go func() {
		code <- hookctl.Run(ctx, []string{"--text", "approvals", "watch"}, cli.Process{
			Stdin: keys, Stdout: screen, Stderr: &stderr, Getenv: func(name string) string { return f.Env[name] }, Terminal: true,
		})
	}()
	lines := f.Start(cli.Process{}, "approvals", "watch")
	screen.until(t, "Deploy this?")
	lines.Line()
	disconnect(t, s)
	screen.until(t, "NATS disconnected; reconnecting")
	screen.until(t, "reconnected")
	for _, want := range []string{"hookctl: NATS disconnected; reconnecting: EOF", "hookctl: NATS reconnected"} {
		if got := lines.Line(); got != want {
			t.Errorf("line %q; want %q", got, want)
		}
	}
	f.Run("approvals", "answer", id, "Deny")
	screen.until(t, "no approval request is open")
	leave()
	if got := <-code; got != cli.ExitOK || stderr.String() != "" {
		t.Errorf("exit code %d, stderr %q; want nothing beside the screen", got, stderr.String())
	}
	lines.End()
}

// terminal collects what is written to it.
type terminal chan string

func (w terminal) Write(b []byte) (int, error) {
	w <- escapes.ReplaceAllString(string(b), "")
	return len(b), nil
}

// until waits for a text, however the output is split.
func (w terminal) until(t *testing.T, text string) {
	t.Helper()
	seen := ""
	for end := time.After(20 * time.Second); !strings.Contains(seen, text); {
		select {
		case more := <-w:
			seen += more
		case <-end:
			t.Fatalf("the terminal never showed %q, but %q", text, seen)
		}
	}
}

// disconnect disconnects every hookctl. They may reconnect.
func disconnect(t *testing.T, s *embedded.Server) {
	t.Helper()
	list, err := s.Connz(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range list.Conns {
		if c.Name == "hookctl" {
			_ = s.DisconnectClientByID(c.Cid) // fails if the client has left
		}
	}
}

var escapes = regexp.MustCompile(`\x1b\[[0-9;?]*[A-Za-z]`)
