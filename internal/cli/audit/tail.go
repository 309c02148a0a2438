package audit

import (
	"context"
	"fmt"
	"time"

	"github.com/hookrouter/hookrouter/internal/auditlog/query"
	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/term"
)

// TailCmd is `hookctl audit tail`.
type TailCmd struct {
	FilterFlags
	Limit  int  `short:"n" aliases:"lines" default:"10" placeholder:"N" help:"How many of the newest records; default 10."`
	Follow bool `short:"f" help:"Keep showing new records, until interrupted."`
}

// Run shows the newest records.
func (c *TailCmd) Run(ctx context.Context, e *cli.Env) error {
	if c.Limit < 0 {
		return fmt.Errorf("--limit %d can't be negative", c.Limit)
	}
	f, err := c.Filter(e, time.Now())
	if err != nil {
		return err
	}
	l, b, err := e.AuditLog(ctx)
	if err != nil {
		return err
	}
	newest, end, err := l.Newest(ctx, f, c.Limit)
	if err != nil {
		return err
	}
	show := func(r query.Record) error {
		showRecord(e.Out, r)
		return e.Out.Failure()
	}
	for _, r := range newest {
		if err := show(r); err != nil {
			return err
		}
	}
	if !c.Follow {
		if len(newest) == 0 {
			fmt.Fprintln(e.Stderr, term.Clean(nothing(ctx, l, f)))
		}
		return nil
	}
	fmt.Fprintf(e.Stderr, "following the audit log of prefix %s; Ctrl-C ends\n", b.Prefix())
	if err := l.Follow(ctx, end, f, show); ctx.Err() == nil {
		return err
	}
	return cli.StopCause(ctx)
}

// QueryCmd is `hookctl audit query`.
type QueryCmd struct {
	FilterFlags
	Limit       int  `placeholder:"N" help:"At most so many records, the newest ones."`
	OldestFirst bool `xor:"order" help:"The oldest first, and with --limit the oldest ones."`
	Reverse     bool `hidden:"" xor:"order" help:"The newest first, which is the default."`
}

// Run shows the matching records, newest first by default.
func (c *QueryCmd) Run(ctx context.Context, e *cli.Env) error {
	if c.Limit < 0 {
		return fmt.Errorf("--limit %d can't be negative", c.Limit)
	}
	f, err := c.Filter(e, time.Now())
	if err != nil {
		return err
	}
	l, _, err := e.AuditLog(ctx)
	if err != nil {
		return err
	}
	search, found := l.QueryNewest, 0
	if c.OldestFirst {
		search = l.Query
	}
	err = search(ctx, f, func(r query.Record) error {
		showRecord(e.Out, r)
		if found++; found == c.Limit {
			return query.ErrEnough
		}
		return e.Out.Failure()
	})
	if err == nil && found == 0 {
		fmt.Fprintln(e.Stderr, term.Clean(nothing(ctx, l, f)))
	}
	return err
}
