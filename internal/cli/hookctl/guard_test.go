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

func TestPinAndUnpin(t *testing.T) {
	t.Parallel()
	f := clibus.New(t, hookctl.Run)
	f.Run("--text", "guard").See(t, cli.ExitOK, "no guard is pinned")
	f.Run("guard").See(t, cli.ExitOK, "[]")
	f.Run("--text", "guard", "pin", "late", "--event", "tool:pre", "--priority", "5").See(t, cli.ExitOK,
		"pinned: late for tool:pre, at priority 5. It is not in force, and its events are refused until it is: it is not registered")
	if got := f.Run("execute", "tool:pre"); got.Code != cli.ExitRefused || !strings.Contains(got.Stderr, `guard "late" is pinned`) {
		t.Errorf("%+v; want that the event is refused", got)
	}
	f.Run("--text", "guard", "unpin", "late").See(t, cli.ExitOK, "unpinned: late")
	f.Run("--text", "guard", "unpin", "late").See(t, cli.ExitOK, "late is not pinned by an order; `hookctl guard list` lists those that are")
	if got := f.Run("execute", "tool:pre"); got.Code != cli.ExitOK {
		t.Errorf("%+v; want that it is permitted", got)
	}
}

func TestPinAsRegistered(t *testing.T) {
	t.Parallel()
	f := clibus.New(t, hookctl.Run)
	f.Hook(chain.Registration{ID: "there", Events: []string{"tool:pre", "tool:post"}, Priority: -3, Match: "has(data.x)", OnFailure: chain.FailClosed}, clitest.Answering(chain.Result{}))
	f.Run("--text", "guard", "pin", "there").See(t, cli.ExitOK, "pinned: there for tool:pre tool:post, at priority -3, with the match has(data.x)")
	f.Run("guard").See(t, cli.ExitOK, `[{"id":"there","events":["tool:pre","tool:post"],"priority":-3,"match":"has(data.x)","from":"order","time":"TIME","in_force":true}]`)
	if got := f.Run("--text", "guard"); got.Code != cli.ExitOK || !strings.Contains(got.Stdout, "there") || !strings.Contains(got.Stdout, "yes") {
		t.Errorf("%+v; want the guard", got)
	}
	for want, args := range map[string][]string{
		"name it too":      {"guard", "pin", "there", "--event", "tool:pre", "--priority=-3", "--match", "has(data.x)"},
		"unpin it first":   {"guard", "pin", "there", "--event", "tool:*", "--priority=-2", "--match", "has(data.x)"},
		"match":            {"guard", "pin", "other", "--event", "tool:pre", "--match", "data.("},
		"--event":          {"guard", "pin", "absent"},
		"give --event too": {"guard", "pin", "there", "--priority", "1"},
		"guard \"a\"":      {"guard", "pin", "a", "--event", "a*"},
	} {
		if got := f.Run(args...); got.Code == cli.ExitOK || !strings.Contains(got.Stderr, want) {
			t.Errorf("%v: %+v; want %q", args, got, want)
		}
	}
	f.Run("--text", "guard", "pin", "there", "--event", "tool:*", "--priority=-3", "--match", "has(data.x)").See(t, cli.ExitOK,
		"pinned: there for tool:*, at priority -3, with the match has(data.x). It is not in force, and its events are refused until it is: its events must include tool:*")
}
