package hookctl_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/hookctl"
	"github.com/hookrouter/hookrouter/internal/testkit/clibus"
	"github.com/hookrouter/hookrouter/internal/testkit/clitest"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

func TestValidate(t *testing.T) {
	t.Parallel()
	f := clibus.New(t, hookctl.Run)
	f.Hook(chain.Registration{ID: "good", Events: []string{"tool:pre"}}, clitest.Answering(chain.Result{}))
	f.Hook(chain.Registration{ID: "bad", Events: []string{"tool:pre"}}, func(context.Context, worker.Event) (worker.Result, error) {
		return worker.Result{}, errors.New("no\x1b[2J, " + strings.Repeat("as always ", 20))
	})
	if got := f.Run("validate", "good", "--text"); got.Code != cli.ExitOK || !strings.HasPrefix(got.Stdout, "hook good keeps the contract: ") {
		t.Errorf("%+v; want that it keeps the contract", got)
	}
	if got := f.Run("validate", "bad", "--text"); got.Code != cli.ExitLocal || !strings.Contains(got.Stdout, "    FAILED usual data: ") || strings.Contains(got.Stdout, "\x1b") {
		t.Errorf("%+v; want that it breaks the contract", got)
	}
	for line := range strings.Lines(f.Run("validate", "bad", "--text").Stdout) {
		if len([]rune(line)) > 81 {
			t.Errorf("the line is too long: %s", line)
		}
	}
	var report struct{ OK bool }
	if err := json.Unmarshal([]byte(f.Run("validate", "good").Stdout), &report); err != nil || !report.OK {
		t.Errorf("%+v, %v; want a report", report, err)
	}
	f.Run("validate", "nobody").Want(t, cli.ExitLocal, "", "hookctl: validate hook nobody: it is not registered; `hookctl registry` lists the hooks")
}
