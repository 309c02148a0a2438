package term

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Section is a part of an approval request's text.
type Section struct {
	Head  string
	Lines []Cell
	Prose bool // fold lines that exceed the width; otherwise break them into [Printer.Rows]
}

// Section prints a section, unless it has no lines.
func (p *Printer) Section(s Section) {
	if len(s.Lines) == 0 {
		return
	}
	p.Print("\n%s\n", p.Paint(Dim, s.Head))
	for _, line := range s.Lines {
		if s.Prose {
			p.Fold(p.Paint(line.Color, p.marked(line)))
			continue
		}
		width := 0
		if p.indented { // a terminal, which would break the line itself
			width = p.Width
		}
		for _, row := range p.Rows(line, width) {
			p.Print("%s\n", p.Paint(line.Color, row))
		}
	}
}

// bar precedes each row of an untrusted text with several rows, so that none of them passes for the
// surrounding output.
const bar = "│ "

// Quoted puts a bar before each line of an untrusted text, if there are several.
func Quoted(lines []string) []string {
	if len(lines) < 2 {
		return lines
	}
	quoted := make([]string, len(lines))
	for i, line := range lines {
		quoted[i] = bar + line
	}
	return quoted
}

// Rows breaks a line that is wider than width into rows with a bar. A width of 0 is unlimited.
func (p *Printer) Rows(line Cell, width int) []string {
	text := p.marked(line)
	if width <= 0 || ansi.StringWidth(text) <= width {
		return []string{text}
	}
	text = ansi.Hardwrap(strings.TrimPrefix(text, bar), max(width-ansi.StringWidth(bar), 1), true)
	return Quoted(strings.Split(text, "\n"))
}

// Cells returns lines as cells of one color.
func Cells(lines []string, color Color) []Cell {
	list := make([]Cell, len(lines))
	for i, line := range lines {
		list[i] = color.Cell(line)
	}
	return list
}

// MaxLines is how many lines of a prompt or of data are shown.
const MaxLines = 400
