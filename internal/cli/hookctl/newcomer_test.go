package hookctl_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/hookctl"
	"github.com/hookrouter/hookrouter/internal/testkit/clibus"
	"github.com/hookrouter/hookrouter/internal/testkit/clitest"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// The source of an event is a URI reference, such as /hookctl: people see the agent's name.
func TestAnAgentIsShownByItsName(t *testing.T) {
	t.Parallel()
	f := clibus.New(t, hookctl.Run)
	f.Env["HOOKCTL_FORMAT"] = ""
	f.Hook(chain.Registration{ID: "ask", Events: []string{"tool:pre"}}, clitest.Answering(chain.Question("Run it?")))
	f.Run("execute", "tool:pre", longData, "--session", session, "--no-wait")
	id := clitest.ApprovalID.FindString(f.Run("approvals").Stdout)
	name := regexp.MustCompile(`(?m)^\s*agent\s+hookctl\b`)
	for _, args := range [][]string{{"approvals", "show", id}, {"why", id}, {"audit", "show", id}, {"approvals"}} {
		got := f.Run(args...)
		if got.Code != cli.ExitOK || strings.Contains(got.Stdout, " /hookctl") {
			t.Errorf("%v: %+v", args, got)
		}
		if shows := len(args) > 1; shows && !name.MatchString(got.Stdout) {
			t.Errorf("%v names no agent:\n%s", args, got.Stdout)
		}
	}
}
