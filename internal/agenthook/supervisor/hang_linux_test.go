package supervisor_test

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
)

// Where the process that asks stands still, the one that the agent started blocks in time.
func TestChildStandsStill(t *testing.T) {
	t.Parallel()
	s := natstest.Listening(t)
	asked := make(chan struct{}, 1)
	if _, err := natstest.Conn(t, s).Subscribe("hooks.execute.>", func(*nats.Msg) {
		select {
		case asked <- struct{}{}:
		default:
		}
	}); err != nil {
		t.Fatal(err)
	}
	var got outcome
	// On a busy machine the time may be over before the process stands still: then again, with twice as much.
	for timeout := 250 * time.Millisecond; timeout < testkit.Patience && !strings.Contains(got.stdout, "killed"); timeout *= 2 {
		select {
		case <-asked: // by the one before
		default:
		}
		c := hookAgent(t, s.ClientURL(), "--timeout="+timeout.String(), "claude-code")
		done := begin(t, c)
		select {
		case <-asked:
			if child, ok := findChild(t, c.Process.Pid); ok {
				_ = syscall.Kill(child, syscall.SIGSTOP) // it may be gone
			}
			got = testkit.Receive(t, "an answer", done)
		case got = <-done:
		}
		if !strings.Contains(got.stdout, `"permissionDecision":"deny"`) {
			break
		}
	}
	if !strings.Contains(got.stdout, `"permissionDecision":"deny"`) || !strings.Contains(got.stdout, "killed") {
		t.Errorf("%+v; want a block", got)
	}
}
