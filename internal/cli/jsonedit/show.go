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
)

// Describe is the change in one line, for people.
func (c Change) Describe() string {
	old, value := term.Clip(string(c.Old), term.MaxValue), term.Clip(string(c.Value), term.MaxValue)
	switch c.Op {
	case "add":
		return c.name() + " added: " + value
	case "remove":
		return c.name() + " removed: " + old
	}
	return c.name() + ": " + old + " → " + value
}

// DiffLines is a JSON Patch whose operations have the old value, as a diff.
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
		name := term.Printable(c.name())
		name = cmp.Or(name, "everything")
		if c.Old != nil || c.Op == "remove" {
			lines = append(lines, diffLine("- ", name, c.Old, term.Red)...)
		}
		if c.Op != "remove" {
			lines = append(lines, diffLine("+ ", name, c.Value, term.Green)...)
		}
	}
	return lines
}

// Diff are the lines of a diff, with the words that changed.
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

// textDiff is the change of a text of several lines, as a diff of lines; nil for others.
func (c Change) textDiff() []term.Cell {
	old, value := approvalview.Lines(c.Old), approvalview.Lines(c.Value)
	if c.Op != "replace" || c.Old == nil || !strings.Contains(strings.TrimRight(old, "\n"), "\n") && !strings.Contains(strings.TrimRight(value, "\n"), "\n") {
		return nil
	}
	d := textdiff.Of(old, value)
	head := term.Plain.Cell(fmt.Sprintf("%s: %s removed, %d added", term.Printable(cmp.Or(c.name(), "everything")), term.Plural(d.Removed, "line"), d.Added))
	return append([]term.Cell{head}, Diff(d)...)
}

func diffLine(sign, name string, value json.RawMessage, color term.Color) []term.Cell {
	list := term.PrintableLines(Indented(value), term.MaxLines)
	list[0] = name + ": " + list[0]
	for i, line := range list {
		list[i] = sign + line
	}
	return term.Cells(list, color)
}

// Indented is JSON over several lines, its numbers and texts as they are.
func Indented(text json.RawMessage) string {
	var b bytes.Buffer
	if err := json.Indent(&b, text, "", "  "); err != nil {
		return string(text)
	}
	return b.String()
}
