package hookctl

import (
	"github.com/hookrouter/hookrouter/internal/cli/audit"
	"github.com/hookrouter/hookrouter/internal/cli/auditops"
	"github.com/hookrouter/hookrouter/internal/cli/policy"
)

type auditCmd struct {
	Tail   audit.TailCmd    `cmd:"" help:"Show the newest records, and new ones with --follow."`
	Query  audit.QueryCmd   `cmd:"" help:"Show records by session, hook, event, time and so on."`
	Show   audit.ShowCmd    `cmd:"" help:"Show one chain step by step: what came in, what each hook did, who approved, what went out."`
	Stats  audit.StatsCmd   `cmd:"" help:"Count what hooks did, what failed and who decided, and show the state of the log."`
	Export audit.ExportCmd  `cmd:"" help:"Export the log to a self-proving file."`
	Verify audit.VerifyCmd  `cmd:"" help:"Prove that nothing in the log, or in exports of it, was changed; files need no NATS."`
	Prove  audit.ProveCmd   `cmd:"" help:"Make a receipt that proves one record without showing others."`
	Check  audit.CheckCmd   `cmd:"" help:"Check a receipt; needs no NATS."`
	Replay policy.ReplayCmd `cmd:"" help:"Run recorded events through the current hooks or a worker file, and report decisions that would differ."`

	Witness   auditops.WitnessCmd       `cmd:"" help:"Watch the log from another machine, and co-sign checkpoints that only append; until interrupted."`
	Rotate    auditops.RotateCmd        `cmd:"" help:"Close the live segment of the log, and begin the next."`
	Remove    auditops.RemoveSegmentCmd `cmd:"" help:"Remove the oldest segment, once it is exported."`
	Erase     auditops.EraseCmd         `cmd:"" help:"Erase the salts of a session, or old ones, so that digests can no longer be linked to its data."`
	Bootstrap auditops.BootstrapCmd     `cmd:"" help:"Create the streams and buckets that routers need, and repair their settings."`
	Key       auditops.KeyCmd           `cmd:"" help:"Make a key that signs, or show its public half."`
}
