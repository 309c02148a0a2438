package approvals

import (
	"context"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/pkg/approver"
)

type revealCmd struct {
	ID string `arg:"" help:"Id of the approval request, as approvals list shows it."`
}

// Help says who may reveal secrets.
func (*revealCmd) Help() string {
	return "The audit log first records who sees them. Needs the credentials of an admin, as hookctl auth add makes them; the console has --console-reveal."
}

// Run shows an approval request with its secrets.
func (c *revealCmd) Run(ctx context.Context, e *cli.Env) error {
	return showRecord(ctx, e, c.ID, (*approver.Approver).Reveal)
}
