package freeze_test

import (
	"context"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/freeze"
	"github.com/hookrouter/hookrouter/internal/testkit/clitest"
)

// hookctl runs the commands of this package.
func hookctl(ctx context.Context, args []string, p cli.Process) int {
	return cli.Run(ctx, args, p, &struct {
		Freeze freeze.Cmd     `cmd:""`
		Thaw   freeze.ThawCmd `cmd:""`
	}{})
}

func TestAFreezeNeedsAScopeAndAReason(t *testing.T) {
	f := &clitest.Fixture{T: t, Hookctl: hookctl, Env: map[string]string{"NATS_URL": "nats://127.0.0.1:1"}}
	for want, args := range map[string][]string{
		"--reason":     {"freeze", "--all"},
		"--all":        {"freeze", "--reason", "r"},
		"name a scope": {"thaw"},
		"can't be u":   {"freeze", "--all", "--session", "s1", "--reason", "r"},
	} {
		if got := f.Run(args...); got.Code != cli.ExitLocal || !strings.Contains(got.Stderr, want) {
			t.Errorf("%v: %+v; want %q", args, got, want)
		}
	}
}
