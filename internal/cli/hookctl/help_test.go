package hookctl_test

import (
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/hookctl"
	"github.com/hookrouter/hookrouter/internal/testkit/clitest"
)

func TestHelpNamesTheExitCodes(t *testing.T) {
	f := &clitest.Fixture{T: t, Hookctl: hookctl.Run}
	for _, args := range [][]string{{"--help"}, {"emit", "--help"}} {
		if got := f.Run(args...); got.Code != cli.ExitOK || !strings.HasSuffix(got.Stdout, cli.ExitCodes) {
			t.Errorf("%v: exit code %d, stdout:\n%s\nwant the exit codes", args, got.Code, got.Stdout)
		}
	}
	if got := f.Run("--version"); got.Code != cli.ExitOK || strings.TrimSpace(got.Stdout) == "" {
		t.Errorf("--version: %+v; want a version", got)
	}
}
