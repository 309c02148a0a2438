package audit_test

import (
	"context"
	"testing"

	"go.uber.org/goleak"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/audit"
	"github.com/hookrouter/hookrouter/internal/testkit"
)

func TestMain(m *testing.M) {
	testkit.Parallel(8) // they wait for checkpoints and segments
	goleak.VerifyTestMain(m)
}

// commands are those that these tests run.
type commands struct {
	Coverage audit.CoverageCmd `cmd:""`
	Audit    struct {
		Tail   audit.TailCmd   `cmd:""`
		Query  audit.QueryCmd  `cmd:""`
		Show   audit.ShowCmd   `cmd:""`
		Stats  audit.StatsCmd  `cmd:""`
		Export audit.ExportCmd `cmd:""`
		Verify audit.VerifyCmd `cmd:""`
		Prove  audit.ProveCmd  `cmd:""`
		Check  audit.CheckCmd  `cmd:""`
	} `cmd:""`
}

// hookctl has the commands of these tests.
func hookctl(ctx context.Context, args []string, p cli.Process) int {
	return cli.Run(ctx, args, p, new(commands))
}
