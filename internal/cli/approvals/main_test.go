package approvals_test

import (
	"context"
	"testing"

	"go.uber.org/goleak"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/approvals"
	"github.com/hookrouter/hookrouter/internal/cli/event"
	"github.com/hookrouter/hookrouter/internal/cli/why"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// commands are those that these tests run.
type commands struct {
	Execute   event.ExecuteCmd `cmd:""`
	Approvals approvals.Cmd    `cmd:""`
	Why       why.Cmd          `cmd:""`
}

// hookctl has the commands of these tests.
func hookctl(ctx context.Context, args []string, p cli.Process) int {
	return cli.Run(ctx, args, p, new(commands))
}
