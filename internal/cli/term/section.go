package term

// Section is a part of an approval request's text.
type Section struct {
	Head  string
	Lines []Cell
	Prose bool // lines that the width has no room for are folded; others stand as they are
}

// Section writes a section, nothing where it has no lines.
func (p *Printer) Section(s Section) {
	if len(s.Lines) == 0 {
		return
	}
	p.Print("\n%s\n", p.Paint(Dim, s.Head))
	for _, line := range s.Lines {
		text := p.Paint(line.Color, p.Marked(line))
		if s.Prose {
			p.Fold(text)
		} else {
			p.Print("%s\n", text)
		}
	}
}

// Cells are lines in one color.
func Cells(lines []string, color Color) []Cell {
	list := make([]Cell, len(lines))
	for i, line := range lines {
		list[i] = color.Cell(line)
	}
	return list
}

// MaxLines is how many lines of a prompt or of data people are shown.
const MaxLines = 400
