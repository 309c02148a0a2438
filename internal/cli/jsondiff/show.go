package jsondiff

import (
	"bytes"
	"cmp"
	"encoding/json"

	"github.com/hookrouter/hookrouter/internal/cli/term"
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
