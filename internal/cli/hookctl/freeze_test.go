package hookctl_test

import (
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/hookctl"
	"github.com/hookrouter/hookrouter/internal/testkit/clibus"
)

func TestFreezeAndThaw(t *testing.T) {
	t.Parallel()
	f := clibus.New(t, hookctl.Run)
	f.Run("--text", "freeze").See(t, cli.ExitOK, "nothing is frozen")
	f.Run("freeze").See(t, cli.ExitOK, "[]")
	f.Run("--text", "freeze", "--agent", "hookctl", "--reason", "runs wild").See(t, cli.ExitOK,
		"frozen: agent hookctl\nNo new action is permitted. Tools that already run are not stopped.")
	if got := f.Run("--text", "execute", "tool:pre"); got.Code != cli.ExitDenied || !strings.Contains(got.Stdout, "Frozen by an operator: runs wild") {
		t.Errorf("%+v; want a denial with the reason", got)
	}
	f.Run("freeze", "--session", "s1", "--reason", "r").See(t, cli.ExitOK, `{"session_id":"s1","reason":"r","time":"TIME"}`)
	if got := f.Run("--text", "freeze"); got.Code != cli.ExitOK || !strings.Contains(got.Stdout, "agent hookctl") || !strings.Contains(got.Stdout, "session s1") {
		t.Errorf("%+v; want both orders", got)
	}
	f.Run("--text", "thaw", "--all").See(t, cli.ExitOK, "no order freezes everything; `hookctl freeze` lists what is frozen")
	f.Run("--text", "thaw", "--agent", "hookctl").See(t, cli.ExitOK, "thawed: agent hookctl")
	if got := f.Run("execute", "tool:pre"); got.Code != cli.ExitOK {
		t.Errorf("%+v; want that it is permitted", got)
	}
}
