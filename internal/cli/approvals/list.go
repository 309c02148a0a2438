package approvals

import (
	"context"
	"fmt"
	"time"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/pkg/approval"
)

// Cmd is `hookctl approvals`.
type Cmd struct {
	List    listCmd    `cmd:"" default:"withargs" help:"List the open approval requests, the newest first; the default of approvals."`
	Show    showCmd    `cmd:"" help:"Show an approval request and the data it is about."`
	Reveal  revealCmd  `cmd:"" help:"Show it with its secrets unmasked, which is recorded."`
	Answer  answerCmd  `cmd:"" help:"Answer an approval request."`
	Watch   watchCmd   `cmd:"" help:"Answer approval requests one after the other, until interrupted."`
	Grants  grantsCmd  `cmd:"" help:"List what is always allowed beyond a session: to a lineage or an agent."`
	Revoke  revokeCmd  `cmd:"" help:"Revoke such a grant."`
	Suggest suggestCmd `cmd:"" help:"Suggest rules for what people allowed again and again, and show how rules in shadow did."`
	Rules   rulesCmd   `cmd:"" help:"Check a file of rules, and show what they decide; needs no NATS."`
}

type listCmd struct {
	Session string `placeholder:"ID" help:"Only approval requests of this session."`
	Limit   int    `placeholder:"N" help:"At most so many, the newest; default: as many as fit a message."`
}

// waiting is the JSON form of the list.
type waiting struct {
	Approvals []approval.Request `json:"approvals"`
	Total     int                `json:"total"`
}

// Run lists approval requests.
func (c *listCmd) Run(ctx context.Context, e *cli.Env) error {
	if c.Limit < 0 {
		return fmt.Errorf("read --limit %d: it can't be negative", c.Limit)
	}
	a, err := e.Approver(ctx)
	if err != nil {
		return err
	}
	list, total, err := a.Pending(ctx, approval.Filter{Session: c.Session, Limit: c.Limit, Newest: true})
	switch {
	case err != nil:
		return err
	case e.Out.Document(waiting{append([]approval.Request{}, list...), total}):
		return nil
	case total == 0:
		e.Out.Print("no approval request is open\n")
		return nil
	}
	now := time.Now()
	rows := [][]term.Cell{term.Heads("ID", "LEFT", "AGE", "SESSION", "EVENT", "HOOK", "PROMPT")}
	for _, q := range list {
		rows = append(rows, term.Row(term.Cyan.Cell(term.Printable(q.ID)), left(q.Expires, now), term.Span(now.Sub(q.Created.Time)), term.Word(q.Session), term.Printable(q.Event), term.Printable(q.Hook), term.Bold.Cell(term.Clip(term.OneLine(asked(q)), term.MaxValue))))
	}
	e.Out.Table(rows)
	if total > len(list) {
		e.Out.Print("and %d more\n", total-len(list))
	}
	return nil
}

// asked returns the prompt. If several people must allow, the progress precedes it.
func asked(q approval.Request) string {
	if q.Progress == "" {
		return q.Prompt
	}
	return "(" + q.Progress + ") " + q.Prompt
}

// urgent is the remaining time below which a request is highlighted.
const urgent = 30 * time.Second

// left returns how much time is left to answer.
func left(expires approval.Time, now time.Time) term.Cell {
	switch d := expires.Sub(now); {
	case d <= 0:
		return term.Red.Cell("none")
	case d < urgent:
		return term.Yellow.Cell(term.Span(d))
	default:
		return term.Plain.Cell(term.Span(d))
	}
}
