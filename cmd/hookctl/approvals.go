package main

import (
	"context"
	"fmt"
	"os/user"
	"time"

	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/approver"
)

type approvalsCmd struct {
	List   approvalsListCmd   `cmd:"" default:"withargs" help:"List the questions that wait for an answer; approvals alone does so too."`
	Show   approvalsShowCmd   `cmd:"" help:"Show all that is known of a question, and what it is about."`
	Answer approvalsAnswerCmd `cmd:"" help:"Answer a question."`
	Watch  approvalsWatchCmd  `cmd:"" help:"Be asked, one question after the other, until interrupted."`
	Rules  approvalsRulesCmd  `cmd:"" help:"Check a file of rules, and show what they decide; needs no NATS."`
}

// approver connects as one who answers.
func (e *env) approver(ctx context.Context) (a *approver.Approver, closeBus func(), err error) {
	b, err := e.connect()
	if err != nil {
		return nil, nil, err
	}
	a, err = approver.Connect(ctx, approver.Options{Conn: b.Conn(), Prefix: b.Prefix(), Patience: patience})
	if err != nil {
		b.Close()
		return nil, nil, err
	}
	return a, b.Close, nil
}

type approvalsListCmd struct {
	Session string `placeholder:"ID" help:"Only questions of this session."`
	Limit   int    `placeholder:"N" help:"At most so many, the oldest first; default: as many as fit a message."`
}

// waiting is the JSON form of the list.
type waiting struct {
	Approvals []approval.Request `json:"approvals"`
	Total     int                `json:"total"`
}

// Run lists questions.
func (c *approvalsListCmd) Run(ctx context.Context, e *env) error {
	if c.Limit < 0 {
		return fmt.Errorf("use --limit %d: it can't be negative", c.Limit)
	}
	a, closeBus, err := e.approver(ctx)
	if err != nil {
		return err
	}
	defer closeBus()
	list, total, err := a.Pending(ctx, approval.Filter{Session: c.Session, Limit: c.Limit})
	switch {
	case err != nil:
		return err
	case e.out.json:
		if list == nil {
			list = []approval.Request{}
		}
		e.out.document(waiting{list, total})
		return nil
	case total == 0:
		e.out.print("no question waits for an answer\n")
		return nil
	}
	now := time.Now()
	rows := [][]cell{heads("ID", "LEFT", "AGE", "SESSION", "EVENT", "HOOK", "PROMPT")}
	for _, q := range list {
		rows = append(rows, []cell{
			{printable(q.ID), cyan},
			left(q.Expires, now),
			{span(now.Sub(q.Created.Time)), plain},
			{orDash(printable(q.Session)), plain},
			{printable(q.Event), plain},
			{printable(q.Hook), plain},
			{clip(printable(q.Prompt), maxValue), bold},
		})
	}
	e.out.table(rows)
	if total > len(list) {
		e.out.print("and %d more\n", total-len(list))
	}
	return nil
}

// urgent is how much time is little.
const urgent = 30 * time.Second

// left is how much time there is to answer.
func left(expires approval.Time, now time.Time) cell {
	switch d := expires.Sub(now); {
	case d <= 0:
		return cell{"none", red}
	case d < urgent:
		return cell{span(d), yellow}
	default:
		return cell{span(d), plain}
	}
}

// span is a duration for people, in whole seconds, or in minutes or hours where
// it is long: 42s, 4m10s, 3h5m, 2d4h.
func span(d time.Duration) string {
	const day = 24 * time.Hour
	switch d = max(d, 0).Truncate(time.Second); {
	case d >= day:
		return fmt.Sprintf("%dd%dh", d/day, d%day/time.Hour)
	case d >= time.Hour:
		return fmt.Sprintf("%dh%dm", d/time.Hour, d%time.Hour/time.Minute)
	case d >= time.Minute:
		return fmt.Sprintf("%dm%ds", d/time.Minute, d%time.Minute/time.Second)
	}
	return fmt.Sprintf("%ds", d/time.Second)
}

// osUser is who runs this process, as far as the system knows.
func osUser() string {
	u, err := user.Current()
	if err != nil {
		return ""
	}
	return u.Username
}
