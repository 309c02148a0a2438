package hookctl

import (
	"github.com/hookrouter/hookrouter/internal/cli/audit"
	"github.com/hookrouter/hookrouter/internal/cli/auditops"
	"github.com/hookrouter/hookrouter/internal/cli/policy"
)

type auditCmd struct {
	Tail   audit.TailCmd    `cmd:"" help:"Show the newest records, and with --follow those that come."`
	Query  audit.QueryCmd   `cmd:"" help:"Show the records of a session, a hook, an event, a time and so on."`
	Show   audit.ShowCmd    `cmd:"" help:"Tell one chain as a story: what came in, what each hook did, who approved, what went out."`
	Stats  audit.StatsCmd   `cmd:"" help:"Count what hooks did, what failed and who decided, and show the state of the log."`
	Export audit.ExportCmd  `cmd:"" help:"Write the log to a file that proves itself."`
	Verify audit.VerifyCmd  `cmd:"" help:"Prove that nothing in the log, or in exports of it, was changed; files need no NATS."`
	Prove  audit.ProveCmd   `cmd:"" help:"Make a receipt that proves one record, and shows no other."`
	Check  audit.CheckCmd   `cmd:"" help:"Check a receipt; needs no NATS."`
	Replay policy.ReplayCmd `cmd:"" help:"Run recorded events through the hooks of today, or a worker file, and report which decisions would differ."`

	Witness   auditops.WitnessCmd       `cmd:"" help:"Watch the log from another machine, and co-sign what grows honestly; until interrupted."`
	Rotate    auditops.RotateCmd        `cmd:"" help:"Close the live segment of the log, and begin the next."`
	Remove    auditops.RemoveSegmentCmd `cmd:"" help:"Remove the oldest segment, once it is exported."`
	Erase     auditops.EraseCmd         `cmd:"" help:"Erase the salts of a session, or old ones, so that digests of its data mean nothing any more."`
	Bootstrap auditops.BootstrapCmd     `cmd:"" help:"Make the streams and buckets that routers need, and mend their settings."`
	Key       auditops.KeyCmd           `cmd:"" help:"Make a key that signs, or show its public half."`
}
