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

// The source of an event is a URI reference, such as /hookctl; output shows the agent's name.
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

// Every command that takes an event warns if its name is one letter off.
func TestAMisspelledEventIsNoticed(t *testing.T) {
	t.Parallel()
	f := clibus.New(t, hookctl.Run)
	f.Env["HOME"], f.Env["HOOK_ROUTER_AUTH_DIR"] = t.TempDir(), t.TempDir()
	const notice = "hookctl: there is no standard event tool:prr: did you mean tool:pre?"
	f.Run("auth", "init")
	for _, args := range []string{
		"emit tool:prr", "execute tool:prr", "collect tool:prr", "explain tool:prr", "handlers tool:prr", "events tool:prr",
		"audit query --event tool:prr", "audit replay --event tool:prr", "policy diff a.yaml b.yaml --event tool:prr",
		"auth add worker w --hook h --event tool:prr", "guard pin late --event tool:prr",
	} {
		if got := f.Run(strings.Fields(args)...); strings.Count(got.Stderr, notice+"\n") != 1 {
			t.Errorf("%s: %+v", args, got)
		}
	}
	for _, args := range []string{"watch tool:prr", "hook add h --on tool:prr --deny no"} {
		b := f.Start(cli.Process{}, strings.Fields(args)...)
		b.Want(notice)
		b.End()
	}
}
