package jsonedit

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/hookrouter/hookrouter/internal/approvalview"
	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/internal/textdiff"
	"github.com/hookrouter/hookrouter/pkg/approval"
)

// Describe describes the change on one line.
func (c Change) Describe() string {
	old, value := term.Clip(string(c.Old), term.MaxValue), term.Clip(string(c.Value), term.MaxValue)
	switch c.Op {
	case "add":
		return c.name() + " added: " + value
	case "remove":
		return c.name() + " removed: " + old
	}
	if approvalview.Masked(c.Old, c.Value) {
		return c.name() + ": a secret was replaced; both values are masked"
	}
	return c.name() + ": " + old + " → " + value
}

// DiffLines renders a JSON Patch whose operations include the old values as a diff.
func DiffLines(patch json.RawMessage) (lines []term.Cell) {
	var list []Change
	if len(patch) == 0 {
		return nil
	}
	if err := json.Unmarshal(patch, &list); err != nil {
		return []term.Cell{term.Red.Cell("they can't be read: " + term.Printable(err.Error()))}
	}
	for _, c := range list {
		if text := c.textDiff(); text != nil {
			lines = append(lines, text...)
			continue
		}
		name := term.Printable(cmp.Or(c.name(), "everything"))
		if approvalview.Masked(c.Old, c.Value) {
			lines = append(lines, term.Yellow.Cell(name+": a secret was replaced; both values are masked"))
			continue
		}
		if c.Old != nil || c.Op == "remove" {
			lines = append(lines, diffLine("- ", name, c.Old, term.Red)...)
		}
		if c.Op != "remove" {
			lines = append(lines, diffLine("+ ", name, c.Value, term.Green)...)
		}
	}
	return lines
}

// Diff renders a diff, with the changed words marked.
func Diff(d textdiff.Diff) (lines []term.Cell) {
	for i, h := range d.Hunks {
		if i > 0 || h.Old > 1 {
			lines = append(lines, term.Cyan.Cell(fmt.Sprintf("@ line %d", h.Old)))
		}
		for _, l := range h.Lines {
			cell := map[textdiff.Op]term.Color{textdiff.Removed: term.Red, textdiff.Added: term.Green}[l.Op].Cell(string(l.Op) + " ")
			for _, part := range l.Parts {
				from := len(cell.Text)
				cell.Text += term.Printable(strings.ReplaceAll(part.Text, "\t", "    "))
				if part.Changed {
					cell.Marks = append(cell.Marks, [2]int{from, len(cell.Text)})
				}
			}
			lines = append(lines, cell)
		}
	}
	if d.Hidden > 0 {
		lines = append(lines, term.Yellow.Cell(fmt.Sprintf("… and %s more that changed; --json shows all", term.Plural(d.Hidden, "line"))))
	}
	return lines
}

// textDiff renders a change to a multi-line text as a line diff. It returns nil for other changes.
func (c Change) textDiff() []term.Cell {
	old, value := approvalview.Lines(c.Old), approvalview.Lines(c.Value)
	if c.Op != "replace" || c.Old == nil || !strings.Contains(strings.TrimRight(old, "\n"), "\n") && !strings.Contains(strings.TrimRight(value, "\n"), "\n") {
		return nil
	}
	return edit(cmp.Or(c.name(), "everything"), textdiff.Of(old, value))
}

// edit renders a diff below the name of the changed value.
func edit(name string, d textdiff.Diff) []term.Cell {
	head := term.Plain.Cell(fmt.Sprintf("%s: %s removed, %d added", term.Printable(name), term.Plural(d.Removed, "line"), d.Added))
	return append([]term.Cell{head}, Diff(d)...)
}

func diffLine(sign, name string, value json.RawMessage, color term.Color) (lines []term.Cell) {
	text := approvalview.Lines(value)
	switch isText := bytes.HasPrefix(value, []byte(`"`)); {
	case isText && strings.Contains(text, "\n"):
		lines = append(lines, color.Cell(sign+name+":"))
		sign, name, text = sign+"  ", "", approval.Visible(text)
	case isText: // quoted, to distinguish it from a number
		text = string(value)
	}
	for i, line := range term.PrintableLines(text, term.MaxLines) {
		if i == 0 && name != "" {
			line = name + ": " + line
		}
		lines = append(lines, color.Cell(sign+line))
	}
	return lines
}

// Data renders the data of a view: its values by name, then its edits as diffs.
func Data(v approvalview.View) []term.Cell {
	lines := Rest(v.Rest)
	for _, e := range v.Edits {
		lines = append(lines, edit(e.Name, e.Diff)...)
	}
	return lines
}

// Rest renders values by name. A value with a single line goes on the same line as the name.
func Rest(values []approvalview.Text) (lines []term.Cell) {
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
