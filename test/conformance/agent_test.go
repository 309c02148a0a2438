package conformance

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
)

// envAgent is the command of a bridge to a client library, words with spaces between.
const envAgent = "HOOKROUTER_AGENT_COMMAND"

// TestConformanceOfAgents replays the suite with an agent that is a client library: that
// of the command in HOOKROUTER_AGENT_COMMAND.
func TestConformanceOfAgents(t *testing.T) {
	t.Parallel()
	command := strings.Fields(os.Getenv(envAgent))
	if len(command) == 0 {
		t.Skipf("%s is not set: it names a bridge to a client library", envAgent)
	}
	cases, err := Load("testdata/public.json")
	if err != nil {
		t.Fatal(err)
	}
	server := natstest.Listening(t)
	agent, err := StartAgent(context.WithoutCancel(t.Context()), server.ClientURL(), command...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := agent.Close(); err != nil {
			t.Error(err)
		}
	})
	const lanes = 6
	for lane := range lanes {
		prefix := "agent" + string(rune('0'+lane))
		routertest.Start(t, server, router.Options{}, natsx.Options{Prefix: prefix})
		target := Target{Conn: natstest.Conn(t, server), Prefix: prefix, Agent: agent}
		t.Run(prefix, func(t *testing.T) {
			t.Parallel()
			for i := lane; i < len(cases); i += lanes {
				t.Run(cases[i].Name, func(t *testing.T) {
					ctx, cancel := context.WithTimeout(t.Context(), caseLimit)
					defer cancel()
					if err := Run(ctx, target, cases[i]); err != nil {
						t.Errorf("case %s:\n%v", cases[i].Name, err)
					}
				})
			}
		})
	}
}
