package hook_test

import (
	"context"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/hook"
	"github.com/hookrouter/hookrouter/internal/testkit/clitest"
)

// hookctl runs the commands of this package.
func hookctl(ctx context.Context, args []string, p cli.Process) int {
	return cli.Run(ctx, args, p, &struct {
		Hook hook.Cmd `cmd:""`
	}{})
}

func TestAHookIsCheckedBeforeItIsServed(t *testing.T) {
	f := &clitest.Fixture{T: t, Hookctl: hookctl, Env: map[string]string{"NATS_URL": "nats://127.0.0.1:1"}}
	for name, tt := range map[string]struct {
		args []string
		code int
		text string
	}{
		"nothing to do":             {nil, cli.ExitLocal, "say what the hook does"},
		"two things to do":          {[]string{"--deny", "x", "--", "true"}, cli.ExitLocal, "say what the hook does"},
		"two flags":                 {[]string{"--deny", "x", "--ask", "y"}, cli.ExitLocal, "can't be used together"},
		"a patch that is no object": {[]string{"--modify", "1"}, cli.ExitLocal, "read --modify"},
		"a command that is missing": {[]string{"--", "no-such-command"}, cli.ExitLocal, "no such program in PATH"},
		"an option without ask":     {[]string{"--deny", "x", "--option", "y"}, cli.ExitLocal, "belongs to --ask"},
		"a long time-out":           {[]string{"--deny", "x", "--timeout", "1h"}, cli.ExitLocal, "timeout_ms"},
		"nothing wrong":             {[]string{"--deny", "x"}, cli.ExitDisconnected, "connect to NATS"},
	} {
		got := f.Run(append([]string{"hook", "add", "h", "--on", "x"}, tt.args...)...)
		if got.Code != tt.code || !strings.Contains(got.Stderr, tt.text) || got.Stdout != "" {
			t.Errorf("%s: exit code %d, stderr %q, stdout %q; want %d, %q", name, got.Code, got.Stderr, got.Stdout, tt.code, tt.text)
		}
	}
}
