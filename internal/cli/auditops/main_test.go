package auditops_test

import (
	"context"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/audit"
	"github.com/hookrouter/hookrouter/internal/cli/auditops"
	"github.com/hookrouter/hookrouter/internal/cli/event"
	"github.com/hookrouter/hookrouter/internal/testkit"
)

func TestMain(m *testing.M) {
	testkit.Parallel(8) // they wait for checkpoints
	goleak.VerifyTestMain(m)
}

// commands are those that these tests run.
type commands struct {
	Emit    event.EmitCmd    `cmd:""`
	Execute event.ExecuteCmd `cmd:""`
	Audit   struct {
		Export    audit.ExportCmd           `cmd:""`
		Verify    audit.VerifyCmd           `cmd:""`
		Witness   auditops.WitnessCmd       `cmd:""`
		Rotate    auditops.RotateCmd        `cmd:""`
		Remove    auditops.RemoveSegmentCmd `cmd:""`
		Erase     auditops.EraseCmd         `cmd:""`
		Bootstrap auditops.BootstrapCmd     `cmd:""`
		Key       auditops.KeyCmd           `cmd:""`
	} `cmd:""`
}

// hookctl has the commands of these tests.
func hookctl(ctx context.Context, args []string, p cli.Process) int {
	var c commands
	c.Audit.Witness.Grace = 100 * time.Millisecond
	return cli.Run(ctx, args, p, &c)
}
