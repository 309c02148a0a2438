package hookctl_test

import (
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/hookctl"
	"github.com/hookrouter/hookrouter/internal/testkit/clibus"
	"github.com/hookrouter/hookrouter/internal/testkit/clitest"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// A hook's timeout must be shorter than that of the chain, and the hooks' total shorter than the
// agent's.
func TestExplainFindsTimeoutsInTheWrongOrder(t *testing.T) {
	t.Parallel()
	f := clibus.New(t, hookctl.Run)
	hook := func(id string, timeout int, reg chain.Registration) {
		reg.ID, reg.TimeoutMS = id, timeout
		if reg.Events == nil {
			reg.Events = []string{"prompt:submit"}
		}
		f.Hook(reg, clitest.Answering(chain.Result{}))
	}
	warnings := func(args ...string) string {
		t.Helper()
		got := f.Run(append([]string{"explain", "prompt:submit", "--text", "--wide"}, args...)...)
		if got.Code != cli.ExitOK {
			t.Fatalf("%+v", got)
		}
		var found []string
		for line := range strings.Lines(got.Stdout) {
			if w, is := strings.CutPrefix(line, "time-outs: "); is {
				found = append(found, strings.TrimSpace(w))
			}
		}
		return strings.Join(found, "\n")
	}
	hook("a", 10_000, chain.Registration{})
	hook("skipped", 30_000, chain.Registration{Match: "data.x == 1 && false"})
	hook("beside", 30_000, chain.Registration{Mode: chain.Shadow})
	hook("elsewhere", 30_000, chain.Registration{Events: []string{"tool:pre"}})
	hook("v1", 9_000, chain.Registration{Effect: chain.Validates, Protocol: 2})
	hook("v2", 9_000, chain.Registration{Effect: chain.Validates, Protocol: 2}) // at the same time
	if got := warnings("--set", "x=2"); got != "" {
		t.Errorf("%s; want nothing about 19 s of hooks in a chain of 30 s", got)
	}
	if got := warnings("--set", "x=2", "--agent", "claude-code"); got != "" {
		t.Errorf("%s; want nothing about 19 s of hooks for an agent that waits 27 s", got)
	}
	hook("b", 10_000, chain.Registration{})
	if got := warnings("--set", "x=2", "--agent", "claude-code"); got != "the hooks may take 29s, and claude-code is told to block after 27s" {
		t.Errorf("%s", got)
	}
	hook("c", 10_000, chain.Registration{})
	if got := warnings("--set", "x=2"); got != "the hooks may take 39s together, and the chain ends after 30s: if several are slow, the event is refused with 504" {
		t.Errorf("%s", got)
	}
	hook("d", 30_000, chain.Registration{OnFailure: chain.FailOpen})
	if got := warnings("--set", "x=2"); got != "hook d may take 30s, and the chain ends after 30s: its on_failure is never reached, the event is refused with 504" {
		t.Errorf("%s", got)
	}
	for args, want := range map[string]string{"nobody": "no agent nobody is known; there are claude-code, codex, gemini, ", "copilot-cli": "no agent"} {
		if got := f.Run("explain", "prompt:submit", "--agent", args); got.Code != cli.ExitLocal || !strings.Contains(got.Stderr, want) {
			t.Errorf("%s: %+v", args, got)
		}
	}
}
