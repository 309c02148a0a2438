package hook

import (
	"context"
	"fmt"
	"strings"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/internal/contract"
)

// ValidateCmd is `hookctl validate`.
type ValidateCmd struct {
	ID      string `arg:"" help:"Id of the hook."`
	Session string `placeholder:"ID" help:"Session of the events; default: the one the hook is limited to."`
}

// Run checks a live hook.
func (c *ValidateCmd) Run(ctx context.Context, e *cli.Env) error {
	e.Forbidden = "only an admin may call hooks; " + cli.Renew
	_, b, err := find(ctx, e, c.ID)
	if err != nil {
		return fmt.Errorf("validate hook %s: %w", c.ID, err)
	}
	report, err := contract.Validate(ctx, contract.Options{Conn: b.Conn(), Prefix: b.Prefix(), ID: c.ID, Session: c.Session})
	if err != nil {
		return err
	}
	if !report.OK {
		e.Exit = cli.ExitLocal
	}
	if e.Out.Document(report) {
		return nil
	}
	for line := range strings.Lines(report.String()) {
		e.Out.Fold(e.Out.Paint(lineColor(line), term.Clean(strings.TrimSuffix(line, "\n"))))
	}
	return nil
}

// lineColor returns red for a line of a report that reports a failure.
func lineColor(line string) term.Color {
	if strings.Contains(line, "BREAKS the contract") || strings.HasPrefix(line, "    FAILED ") {
		return term.Red
	}
	return term.Plain
}
