package hookctl_test

import (
	"context"
	"time"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/audit"
	"github.com/hookrouter/hookrouter/internal/cli/auditops"
	"github.com/hookrouter/hookrouter/internal/cli/event"
)

// opsctl is hookctl with the commands for operators of the audit log, and a witness with a shorter
// grace period.
func opsctl(ctx context.Context, args []string, p cli.Process) int {
	var c struct {
		Emit    event.EmitCmd    `cmd:""`
		Execute event.ExecuteCmd `cmd:""`
		Audit   struct {
			Stats     audit.StatsCmd            `cmd:""`
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
	c.Audit.Witness.Grace = 100 * time.Millisecond
	return cli.Run(ctx, args, p, &c)
}
