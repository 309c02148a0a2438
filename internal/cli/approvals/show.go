package approvals

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/approvalview"
	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/jsonedit"
	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/approver"
)

type showCmd struct {
	ID string `arg:"" help:"Id of the approval request, as approvals list shows it."`
}

// Run shows an approval request.
func (c *showCmd) Run(ctx context.Context, e *cli.Env) error {
	return showRecord(ctx, e, c.ID, (*approver.Approver).Get)
}

// showRecord shows the approval request that get returns.
func showRecord(ctx context.Context, e *cli.Env, id string, get func(*approver.Approver, context.Context, string) (approval.Record, error)) error {
	a, err := e.Approver(ctx)
	if err != nil {
		return err
	}
	r, err := get(a, ctx, id)
	if err != nil || e.Out.Document(json.RawMessage(r.Append(nil))) {
		return err
	}
	e.Out.Table([][]term.Cell{{term.Bold.Cell(term.Printable(r.ID)), state(r, time.Now())}})
	judged, more := sections(r)
	for _, s := range judged {
		e.Out.Section(s)
	}
	e.Out.Print("\n")
	e.Out.Table(facts(r))
	for _, s := range more {
		e.Out.Section(s)
	}
	return nil
}

// state returns how an approval request ended, or that it waits.
func state(r approval.Record, now time.Time) term.Cell {
	if r.Decision != nil {
		return decision(*r.Decision)
	}
	return term.Yellow.Cell("waits for an answer; time left: " + left(r.Expires, now).Text + ", then " + term.Printable(r.Default))
}

// facts returns the other properties of an approval request.
func facts(r approval.Record) (rows term.Facts) {
	hook := r.Hook
	if r.HookID != "" && r.HookID != r.Hook {
		hook += " (" + r.HookID + ")"
	}
	add := func(head, text string) { rows.Add(head, term.OneLine(text), term.Plain) }
	if r.Decision != nil {
		add("claims", r.ClaimedBy)
		add("note", r.Note)
		add("error", r.Error)
		add("decided", r.Decided.String())
	}
	add("needs", r.Progress)
	for i, review := range r.Reviews {
		rows.Add([...]string{"said", ""}[min(i, 1)], term.Printable(review.String()), term.Plain)
	}
	add("by all", strings.Join(approvedBy(r), ", "))
	add("hook", hook)
	add("tool", r.ToolName)
	add("event", r.Event)
	add("session", r.Session)
	add("labels", strings.Join(r.Labels, ", "))
	add("agent", term.Agent(r.Agent))
	add("emitter", r.Emitter)
	add("reason", approvalview.Reason(r))
	if r.ShadowRule != "" {
		add("shadow", "rule "+r.ShadowRule+" would "+r.ShadowDecision)
	}
	add("chain", r.ChainID)
	add("options", strings.Join(r.Options, " | "))
	add("sha256", r.DataSHA256)
	return rows
}

// approvedBy returns everyone who allowed a decided request.
func approvedBy(r approval.Record) []string {
	if r.Decision == nil {
		return nil
	}
	return r.ApprovedBy
}

// decision renders the outcome of an approval request.
func decision(d approval.Decision) term.Cell {
	what, color := "denied", term.Red
	if d.Granted {
		what, color = "granted", term.Green
	}
	if d.Option != "" {
		what += fmt.Sprintf(", %q", term.Printable(d.Option))
	}
	if d.TimedOut {
		return color.Cell(what + ": nobody answered in time")
	}
	what += " by " + term.Printable(d.DecidedBy)
	if d.Scope != "" {
		what += ", for the " + term.Printable(d.Scope)
	}
	if !d.GrantExpires.IsZero() {
		what += ", until " + d.GrantExpires.String()
	}
	return color.Cell(what)
}

// sections returns the sections of an approval request. judged has what to judge: the subject, the
// edits, and the prompt. more has the changes that hooks made, and all other data. Both are safe to
// print.
func sections(r approval.Record) (judged, more []term.Section) {
	v := approvalview.Of(r)
	for _, s := range v.Subject {
		judged = append(judged, term.Section{Head: s.Name, Lines: term.Cells(term.Quoted(term.PrintableLines(s.Text, term.MaxLines)), term.Bold+";"+term.Yellow)})
	}
	for _, e := range v.Edits {
		head := fmt.Sprintf("%s: %s removed, %d added", term.Printable(e.Name), term.Plural(e.Diff.Removed, "line"), e.Diff.Added)
		judged = append(judged, term.Section{Head: head, Lines: jsonedit.Diff(e.Diff)})
	}
	judged = append(judged, term.Section{Head: "prompt", Lines: term.Cells(term.Quoted(term.PrintableLines(approval.Visible(r.Prompt), term.MaxLines)), term.Bold)})
	more = append(more, term.Section{Head: "changed by hooks", Lines: jsonedit.DiffLines(approvalview.ByHooks(r))})
	data := jsonedit.Rest(v.Rest)
	if v.Masked {
		data = append(data, term.Dim.Cell("secrets are masked; this shows them, and is recorded:"), term.Dim.Cell("  hookctl approvals reveal "+term.Printable(r.ID)))
	}
	return judged, append(more, term.Section{Head: "data", Lines: data})
}
