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
)

type showCmd struct {
	ID string `arg:"" help:"Id of the approval request, as approvals list shows it."`
}

// Run shows an approval request.
func (c *showCmd) Run(ctx context.Context, e *cli.Env) error {
	a, err := e.Approver(ctx)
	if err != nil {
		return err
	}
	r, err := a.Get(ctx, c.ID)
	if err != nil {
		return err
	}
	printRecord(e, r)
	return nil
}

func printRecord(e *cli.Env, r approval.Record) {
	if e.Out.Document(json.RawMessage(r.Append(nil))) {
		return
	}
	e.Out.Table(recordRows(r, time.Now()))
	for _, s := range sections(r) {
		e.Out.Section(s)
	}
}

// recordRows is what is known of an approval request, except its multi-line texts.
func recordRows(r approval.Record, now time.Time) [][]term.Cell {
	hook := r.Hook
	if r.HookID != "" && r.HookID != r.Hook {
		hook += " (" + r.HookID + ")"
	}
	state := term.Yellow.Cell("waits for an answer")
	if r.Decision != nil {
		state = decision(*r.Decision)
	}
	rows := term.Facts{{term.Bold.Cell(term.Printable(r.ID))}, {term.Dim.Cell("state"), state}}
	add := func(head, text string) { rows.Add(head, term.Printable(text), term.Plain) }
	if r.Decision != nil {
		add("claims", r.ClaimedBy)
		add("note", r.Note)
		add("error", r.Error)
		add("decided", r.Decided.String())
	} else {
		text := left(r.Expires, now)
		rows.Add("left", text.Text+", then "+term.Printable(r.Default), text.Color)
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
	add("agent", term.Agent(r.Agent))
	add("emitter", r.Emitter)
	add("reason", r.Reason)
	if r.ShadowRule != "" {
		add("shadow", "rule "+r.ShadowRule+" would "+r.ShadowDecision)
	}
	add("chain", r.ChainID)
	add("options", strings.Join(r.Options, " | "))
	add("sha256", r.DataSHA256)
	return rows
}

// approvedBy are all who allowed, if several had to.
func approvedBy(r approval.Record) []string {
	if r.Decision == nil {
		return nil
	}
	return r.ApprovedBy
}

// decision is the end of an approval request for people.
func decision(d approval.Decision) term.Cell {
	what, color := "denied", term.Red
	if d.Granted {
		what, color = "granted", term.Green
	}
	if d.Option != "" {
		what += fmt.Sprintf(", %q", term.Printable(d.Option))
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

// sections are what the request is about, what an edit changes, the prompt, what hooks and
// defaults changed, and all other data, safe to show. What to judge comes first.
func sections(r approval.Record) (list []term.Section) {
	v := approvalview.Of(r)
	for _, s := range v.Subject {
		list = append(list, term.Section{Head: s.Name, Lines: term.Cells(term.PrintableLines(s.Text, term.MaxLines), term.Bold+";"+term.Yellow)})
	}
	for _, e := range v.Edits {
		head := fmt.Sprintf("%s: %s removed, %d added", term.Printable(e.Name), term.Plural(e.Diff.Removed, "line"), e.Diff.Added)
		list = append(list, term.Section{Head: head, Lines: jsonedit.Diff(e.Diff)})
	}
	list = append(list, term.Section{Head: "prompt", Lines: term.Cells(term.PrintableLines(approval.Visible(r.Prompt), term.MaxLines), term.Bold)})
	if lines := jsonedit.DiffLines(r.Changes); len(lines) > 0 {
		list = append(list, term.Section{Head: "changed since it was emitted", Lines: lines})
	}
	return append(list, term.Section{Head: "data", Lines: rest(v.Rest)})
}

// rest are values with their names, on the same line if they fit one.
func rest(values []approvalview.Text) (lines []term.Cell) {
	for _, value := range values {
		text := term.PrintableLines(value.Text, term.MaxLines)
		if len(text) == 1 {
			lines = append(lines, term.Plain.Cell(term.Printable(value.Name)+": "+text[0]))
			continue
		}
		lines = append(lines, term.Plain.Cell(term.Printable(value.Name)+":"))
		for _, line := range text {
			lines = append(lines, term.Plain.Cell("  "+line))
		}
	}
	return lines
}
