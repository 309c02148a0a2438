package term

// Section is a part of a question's text.
type Section struct {
	Head  string
	Lines []Cell
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
