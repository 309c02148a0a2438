package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/hookrouter/hookrouter/internal/contract"
	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/events"
)

type validateCmd struct {
	ID      string `arg:"" help:"Id of the hook."`
	Session string `placeholder:"ID" help:"Session of the events; default: the one the hook is limited to."`
}

// Run checks a live hook.
func (c *validateCmd) Run(ctx context.Context, e *env) error {
	if err := events.CheckHookID(c.ID); err != nil {
		return err
	}
	b, err := e.connect()
	if err != nil {
		return err
	}
	defer b.Close()
	hook, err := find(ctx, agent.Options{Conn: b.Conn(), Prefix: b.Prefix(), Patience: patience}, c.ID)
	if err != nil {
		return err
	}
	if hook == nil {
		return fmt.Errorf("validate hook %s: it is not registered; `hookctl registry` lists the hooks", c.ID)
	}
	report, err := contract.Validate(ctx, contract.Options{Conn: b.Conn(), Prefix: b.Prefix(), ID: c.ID, Session: c.Session})
	if err != nil {
		return err
	}
	if !report.OK {
		e.exit = exitLocal
	}
	if e.out.json {
		e.out.document(report)
		return nil
	}
	for line := range strings.Lines(report.String()) {
		e.out.print("%s\n", e.out.paint(lineColor(line), clean(strings.TrimSuffix(line, "\n"))))
	}
	return nil
}

// lineColor is red for a line of a report that tells a failure.
func lineColor(line string) string {
	if strings.Contains(line, "BREAKS the contract") || strings.HasPrefix(line, "    FAILED ") {
		return red
	}
	return plain
}
