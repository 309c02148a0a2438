package event

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/jsonedit"
	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// ExecuteCmd is `hookctl execute`.
type ExecuteCmd struct {
	emitArgs
	Wait   *time.Duration `placeholder:"DURATION" help:"Time for all of it, including a person's answer; default: until the approval request is decided."`
	NoWait bool           `help:"Do not wait for a person; the approval request stays open."`
}

// executed is the JSON form of a verdict.
type executed struct {
	Event      string            `json:"event"`
	EventID    string            `json:"event_id,omitempty"`
	ChainID    string            `json:"chain_id,omitempty"`
	Hooks      *int              `json:"hooks,omitempty"` // that were called; nil while that is unknown
	DeniedBy   string            `json:"denied_by,omitempty"`
	FailedOpen []string          `json:"failed_open,omitempty"`
	Changes    []jsonedit.Change `json:"changes,omitempty"`
	Verdict    verdict.Verdict   `json:"verdict"`
}

// Help describes the output.
func (c *ExecuteCmd) Help() string { return exactJSON }

// Run executes the event.
func (c *ExecuteCmd) Run(ctx context.Context, e *cli.Env) error {
	if c.Wait != nil && *c.Wait < time.Millisecond {
		return fmt.Errorf("--wait is %s: at least 1ms is needed", *c.Wait)
	}
	waiting, cancel := context.WithCancel(ctx)
	if c.Wait != nil {
		waiting, cancel = context.WithTimeout(ctx, *c.Wait)
	}
	defer cancel()
	a, err := c.open(ctx, e, agent.Options{OnPending: func(q verdict.Approval) {
		if c.NoWait {
			cancel()
			return
		}
		term.Say(e.Stderr, fmt.Sprintf("waiting for an answer to %s: %s; %s", term.Printable(q.ID), term.Printable(asked(q)), howToAnswer(q.ID)))
	}})
	if err != nil {
		return err
	}
	x, err := a.Execute(waiting, c.Event, c.sent)
	if open, ok := errors.AsType[*agent.PendingError](err); ok && ctx.Err() == nil {
		x, err = agent.Execution{Verdict: verdict.Verdict{Action: verdict.Pending, Approval: &open.Approval}}, nil
	}
	if err != nil {
		return err
	}
	var diff []jsonedit.Change
	if x.Permitted() {
		diff = c.changes(x.Data)
	}
	showVerdict(e, c.Event, x, diff, labels(ctx, e, x.ChainID))
	return nil
}

// showVerdict prints a verdict, with the labels that hooks gave, and sets the exit code.
func showVerdict(e *cli.Env, event string, x agent.Execution, diff []jsonedit.Change, labels string) {
	var said string // for shell hooks: the agent reads their standard error
	switch x.Action {
	case verdict.Continue:
	case verdict.Deny:
		e.Exit, said = cli.ExitDenied, "denied: "+cli.Masked(x.Reason)
	case verdict.Pending:
		e.Exit, said = cli.ExitPending, "a person is asked and has not answered: "+x.Approval.ID+"; "+howToAnswer(x.Approval.ID)
	}
	doc := executed{event, x.EventID, x.ChainID, &x.Hooks, x.DeniedBy, x.FailedOpen, diff, x.Verdict}
	if x.Action == verdict.Pending {
		doc.Hooks = nil
	}
	if !e.Out.Document(doc) {
		e.Out.Table(verdictRows(x, diff, labels))
		if x.Action == verdict.Pending {
			e.Out.Print("%s\n", howToAnswer(x.Approval.ID))
		}
		return
	}
	if said != "" {
		term.Say(e.Stderr, term.Printable(said))
	}
}

// verdictRows formats a verdict as rows.
func verdictRows(x agent.Execution, diff []jsonedit.Change, labels string) [][]term.Cell {
	rows := term.Facts{{verdictColor(x.Action).Cell(string(x.Action)), term.Bold.Cell(term.Printable(cli.Masked(x.Reason)))}}
	add := func(head, text string) { rows.Add(head, term.Printable(cli.Masked(text)), term.Plain) }
	add("denied by", x.DeniedBy)
	addChanges(&rows, diff)
	for _, m := range x.Messages {
		add("message", string(m.Role)+" from "+m.Metadata.HookName+placing(m.Ephemeral, m.AppendToLastToolResult)+": "+m.Content)
	}
	for _, d := range x.Display {
		add("display", string(d.Level)+" from "+strings.TrimPrefix(d.From(), "hook:")+": "+d.Message)
	}
	if len(x.SuppressOutput) > 0 {
		add("hidden", "the output of "+strings.Join(x.SuppressOutput, ", "))
	}
	for _, w := range x.Warnings {
		rows = append(rows, term.Row(term.Yellow.Cell(w.Kind), term.Printable(w.Hook+": "+cli.Masked(w.Detail))))
	}
	if q := x.Approval; q != nil {
		add("asked", asked(*q))
		add("answer", answerOf(*q, x.Action))
		add("approval", q.ID)
	}
	rows.Add("labels", labels, term.Yellow)
	addChain(&rows, x.FailedOpen, x.Hooks, x.EventID, x.ChainID)
	return rows
}

// asked formats an approval request and its options, with secrets masked.
func asked(q verdict.Approval) string {
	return term.Clip(prompted(q.Prompt), 2*term.MaxValue) + " [" + strings.Join(q.Options, " | ") + "]"
}

// prompted returns the prompt on one line, with secrets masked.
func prompted(prompt string) string { return term.OneLine(cli.Masked(prompt)) }

// howToAnswer returns the command that answers an approval request.
func howToAnswer(id string) string {
	return "answer it with: hookctl approvals answer " + term.Printable(id) + " OPTION"
}

// answerOf describes the outcome of an approval request.
func answerOf(q verdict.Approval, action verdict.Action) string {
	switch {
	case action == verdict.Pending:
		return "none yet; it can be given until " + q.Expires
	case q.TimedOut:
		return "none came in time"
	case q.Cached:
		return q.Option + ", given before by " + q.DecidedBy
	case q.Option == "":
		return "by " + q.DecidedBy
	}
	return q.Option + ", by " + q.DecidedBy
}

func verdictColor(action verdict.Action) term.Color {
	switch action {
	case verdict.Deny:
		return term.Red
	case verdict.Pending:
		return term.Yellow
	case verdict.Continue:
	}
	return term.Green
}
