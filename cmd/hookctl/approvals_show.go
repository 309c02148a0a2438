package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/pkg/approval"
)

// maxLines is how many lines of a prompt or of data people are shown.
const maxLines = 400

type approvalsShowCmd struct {
	ID string `arg:"" help:"Id of the question, which approvals lists."`
}

// Run shows a question.
func (c *approvalsShowCmd) Run(ctx context.Context, e *env) error {
	a, closeBus, err := e.approver(ctx)
	if err != nil {
		return err
	}
	defer closeBus()
	r, err := a.Get(ctx, c.ID)
	if err != nil {
		return err
	}
	if e.out.json {
		e.out.document(json.RawMessage(r.Append(nil)))
		return nil
	}
	e.out.table(recordRows(r, time.Now()))
	for _, s := range sections(r) {
		e.out.print("\n%s\n", e.out.paint(dim, s.head))
		for _, line := range s.lines {
			e.out.print("%s\n", e.out.paint(line.color, line.text))
		}
	}
	return nil
}

// recordRows is what is known of a question, but for its texts of many lines.
func recordRows(r approval.Record, now time.Time) [][]cell {
	hook := r.Hook
	if r.HookID != "" && r.HookID != r.Hook {
		hook += " (" + r.HookID + ")"
	}
	state := cell{"waits for an answer", yellow}
	if r.Decision != nil {
		state = decision(*r.Decision)
	}
	rows := [][]cell{{{printable(r.ID), bold}, state}}
	add := func(head, text string) {
		if text != "" {
			rows = append(rows, []cell{{head, dim}, {printable(text), plain}})
		}
	}
	if r.Decision != nil {
		add("claims", r.ClaimedBy)
		add("note", r.Note)
		add("error", r.Error)
		add("decided", r.Decided.String())
	} else {
		text := left(r.Expires, now)
		rows = append(rows, []cell{{"left", dim}, {text.text + ", then " + printable(r.Default), text.color}})
	}
	add("hook", hook)
	add("tool", r.ToolName)
	add("event", r.Event)
	add("session", r.Session)
	add("agent", r.Agent)
	add("reason", r.Reason)
	add("options", strings.Join(r.Options, " | "))
	add("sha256", r.DataSHA256)
	return rows
}

// decision is the end of a question for people.
func decision(d approval.Decision) cell {
	what, color := "denied", red
	if d.Granted {
		what, color = "granted", green
	}
	if d.Option != "" {
		what += fmt.Sprintf(", %q", printable(d.Option))
	}
	return cell{what + " by " + printable(d.DecidedBy), color}
}

// section is a part of a question's text.
type section struct {
	head  string
	lines []cell
}

// sections are the prompt, what hooks and defaults changed, and the data, safe to
// show.
func sections(r approval.Record) []section {
	list := []section{{"prompt", cells(printableLines(r.Prompt, maxLines), bold)}}
	if lines := diffLines(r.Changes); len(lines) > 0 {
		list = append(list, section{"changed since it was emitted", lines})
	}
	if len(r.Data) > 0 {
		list = append(list, section{"data", cells(printableLines(indented(r.Data), maxLines), plain)})
	}
	return list
}

func cells(lines []string, color string) []cell {
	list := make([]cell, len(lines))
	for i, line := range lines {
		list[i] = cell{line, color}
	}
	return list
}

// diffLines is a JSON Patch whose operations have the old value, as a diff.
func diffLines(patch json.RawMessage) (lines []cell) {
	var list []change
	if len(patch) == 0 {
		return nil
	}
	if err := json.Unmarshal(patch, &list); err != nil {
		return []cell{{"they can't be read: " + printable(err.Error()), red}}
	}
	for _, c := range list {
		name := printable(c.name())
		if name == "" {
			name = "everything"
		}
		if c.Old != nil || c.Op == "remove" {
			lines = append(lines, diffLine("- ", name, c.Old, red)...)
		}
		if c.Op != "remove" {
			lines = append(lines, diffLine("+ ", name, c.Value, green)...)
		}
	}
	return lines
}

func diffLine(sign, name string, value json.RawMessage, color string) []cell {
	list := printableLines(indented(value), maxLines)
	list[0] = name + ": " + list[0]
	for i, line := range list {
		list[i] = sign + line
	}
	return cells(list, color)
}

// indented is JSON over several lines, its numbers and texts as they are.
func indented(text json.RawMessage) string {
	var b bytes.Buffer
	if err := json.Indent(&b, text, "", "  "); err != nil {
		return string(text)
	}
	return b.String()
}
