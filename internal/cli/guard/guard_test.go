package guard_test

import (
	"context"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/guard"
	"github.com/hookrouter/hookrouter/internal/testkit/clitest"
)

// hookctl runs the commands of this package.
func hookctl(ctx context.Context, args []string, p cli.Process) int {
	return cli.Run(ctx, args, p, &struct {
		Guard guard.Cmd `cmd:""`
	}{})
}

func TestAPinIsCheckedBeforeItIsSent(t *testing.T) {
	f := &clitest.Fixture{T: t, Hookctl: hookctl, Env: map[string]string{"NATS_URL": "nats://127.0.0.1:1"}}
	for want, args := range map[string][]string{
		"give --event too": {"guard", "pin", "there", "--priority", "1"},
		"guard \"a\"":      {"guard", "pin", "a", "--event", "a*"},
	} {
		if got := f.Run(args...); got.Code != cli.ExitLocal || !strings.Contains(got.Stderr, want) {
			t.Errorf("%v: %+v; want %q", args, got, want)
		}
	}
	if got := f.Run("guard", "pin", "a", "--event", "tool:pre"); got.Code != cli.ExitDisconnected {
		t.Errorf("%+v; want that only NATS is missing", got)
	}
}
