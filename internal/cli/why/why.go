package why

import (
	"context"
	"errors"
	"fmt"

	"github.com/hookrouter/hookrouter/internal/auditlog/query"
	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/internal/why"
)

// Cmd is `hookctl why`.
type Cmd struct {
	ID string `arg:"" optional:"" help:"Id of an event, a chain, an approval request or a session; the last denial without one."`
}

// Run explains a decision.
func (c *Cmd) Run(ctx context.Context, e *cli.Env) error {
	l, _, err := e.AuditLog(ctx)
	if err != nil {
		return err
	}
	s, err := why.Find(ctx, l, c.ID, func() bool { return c.ID == "" || e.WholeLog() })
	if errors.Is(err, query.ErrNoChain) {
		return NotRecorded(c.ID)
	}
	if err != nil {
		return err
	}
	if !e.Out.Document(s) {
		show(e.Out, s)
	}
	return nil
}

// NotRecorded returns the error for an id of which the whole log has no record.
func NotRecorded(id string) error {
	if id == "" {
		return errors.New("why: the audit log has no denial; `hookctl audit query --since 1h` shows what there is")
	}
	return fmt.Errorf("why %s: the audit log has nothing on this id: it was not recorded, or in a segment that was removed; `hookctl audit query --since 1h` shows what there is",
		term.Clip(term.Printable(id), term.MaxValue))
}
