package supervisor_test

import (
	"strings"
	"syscall"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
)

// Where the process that asks stands still, the one that the agent started blocks in time.
func TestChildStandsStill(t *testing.T) {
	t.Parallel()
	s := natstest.Listening(t)
	asked := make(chan struct{}, 1)
	if _, err := natstest.Conn(t, s).Subscribe("hooks.execute.>", func(*nats.Msg) { asked <- struct{}{} }); err != nil {
		t.Fatal(err)
	}
	c := hookAgent(t, s.ClientURL(), "--timeout=1s", "claude-code")
	done := begin(t, c)
	testkit.Receive(t, "a question to the router", asked)
	if err := syscall.Kill(childOf(t, c.Process.Pid), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if got := testkit.Receive(t, "an answer", done); !strings.Contains(got.stdout, `"permissionDecision":"deny"`) || !strings.Contains(got.stdout, "killed") {
		t.Errorf("%+v; want a block", got)
	}
}
