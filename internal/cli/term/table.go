package term

import (
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Cell is one field of a table.
type Cell struct {
	Text  string
	Color Color
	// Marks are the highlighted byte ranges of the text; nil means none. Tables ignore them.
	Marks [][2]int
	// Whole is set for text that people copy, such as a path. It is never folded, and may be wider
	// than the table. It must be the last cell of its row.
	Whole bool

	head bool // a column head, in the first row
}

// Cell returns a cell of this color.
func (c Color) Cell(text string) Cell { return Cell{Text: text, Color: c} }

// marked returns the text of a cell, with its marks if the output shows colors.
func (p *Printer) marked(c Cell) string {
	if !p.Colored {
		return c.Text
	}
	var b strings.Builder
	at := 0
	for _, m := range c.Marks {
		b.WriteString(c.Text[at:m[0]] + "\x1b[7m" + c.Text[m[0]:m[1]] + "\x1b[27m")
		at = m[1]
	}
	return b.String() + c.Text[at:]
}

// Row returns a row of a table. A [Cell] is used as it is; any other field becomes a cell without
// color.
func Row(fields ...any) []Cell {
	cells := make([]Cell, len(fields))
	for i, field := range fields {
		if cell, ok := field.(Cell); ok {
			cells[i] = cell
		} else {
			cells[i].Text = fmt.Sprint(field)
		}
	}
	return cells
}

// Heads returns the first row of a table.
func Heads(texts ...string) []Cell {
	cells := Cells(texts, Dim)
	for i := range cells {
		cells[i].head = true
	}
	return cells
}

// Facts are the rows of a table with two columns: a name and its value.
type Facts [][]Cell

// Add adds a row, unless the text is empty.
func (f *Facts) Add(head, text string, color Color) {
	if text != "" {
		*f = append(*f, []Cell{Dim.Cell(head), color.Cell(text)})
	}
}

// AddWhole adds a row whose text is never folded, unless the text is empty.
func (f *Facts) AddWhole(head, text string) {
	if text != "" {
		*f = append(*f, []Cell{Dim.Cell(head), {Text: text, Whole: true}})
	}
}

// Table prints rows in aligned columns, with cleaned text. If they exceed the width, it folds the
// last column. If that leaves too little space, it omits columns without text, and then moves
// columns below their row, each with its head. It cuts only the first column, in the middle.
func (p *Printer) Table(rows [][]Cell) {
	t := layOut(rows, p.Width)
	var b strings.Builder
	for _, row := range rows {
		p.row(&b, t, row)
	}
	p.write(b.String())
}

const (
	gap     = 2  // blanks between columns
	margin  = 4  // indentation of the lines below a row
	minLast = 20 // minimum width to which the last column is folded
	maxWord = 60 // width of a word up to which folding keeps it whole
)

// layout is the arrangement of the columns of a table.
type layout struct {
	width  int   // of the table; 0 means unlimited
	widths []int // of the columns
	words  []int // the widths of their longest words, up to maxWord
	below  []bool
	heads  []Cell // nil if there are none
}

// layOut cleans the text of a table, and arranges its columns.
func layOut(rows [][]Cell, width int) layout {
	t := layout{width: width}
	for _, row := range rows {
		for i := range row {
			row[i].Text = Clean(row[i].Text)
			if i == len(t.widths) {
				t.widths, t.words, t.below = append(t.widths, 0), append(t.words, 0), append(t.below, false)
			}
			if len(row) > 1 && !row[i].Whole { // a single cell is a line above the table
				t.widths[i] = max(t.widths[i], ansi.StringWidth(row[i].Text))
				t.words[i] = max(t.words[i], min(longestWord(row[i].Text), maxWord))
			}
		}
	}
	if len(rows) > 0 && len(rows[0]) > 0 && rows[0][0].head {
		t.heads = rows[0]
	}
	if width <= 0 || len(t.widths) == 0 {
		return t
	}
	if !t.fits() {
		t.hide(rows)
	}
	for !t.fits() {
		i := t.lower()
		if i < 0 {
			over, _ := t.over()
			t.widths[0] -= min(over, t.widths[0]-1)
			break
		}
		t.below[i] = true
	}
	if over, last := t.over(); over > 0 {
		t.widths[last] -= over
	}
	return t
}

// hide removes the columns without text.
func (t *layout) hide(rows [][]Cell) {
	for i := 1; i < len(t.widths); i++ {
		t.below[i] = !t.spacer(i) && !slices.ContainsFunc(rows, func(row []Cell) bool { return i < len(row) && row[i].says() })
	}
}

// spacer reports whether a column has a blank head, and so contains no text.
func (t *layout) spacer(i int) bool {
	return i < len(t.heads) && t.heads[i].Text != "" && strings.TrimSpace(t.heads[i].Text) == ""
}

// says reports whether a cell has content.
func (c Cell) says() bool { return !c.head && c.Text != "" && c.Text != "-" }

// over returns by how much the columns side by side exceed the width, which is not positive if they
// fit, and the index of the last of them.
func (t *layout) over() (over, last int) {
	at := -gap
	for i, w := range t.widths {
		if !t.below[i] {
			at, last = at+gap+w, i
		}
	}
	return at - t.width, last
}

// fits reports whether the columns side by side fit, with the last one folded if necessary.
func (t *layout) fits() bool {
	over, last := t.over()
	return over <= 0 || last > 0 && t.widths[last]-over >= max(minLast, t.words[last])
}

// lower returns the column to move below the rows: the rightmost one that frees enough space, else
// the widest one, or -1 if there is none. It never returns the first column, which identifies the
// row.
func (t *layout) lower() int {
	widest := -1
	for i := len(t.widths) - 1; i > 0; i-- {
		if t.below[i] || t.spacer(i) {
			continue
		}
		t.below[i] = true
		if t.fits() {
			return i
		}
		t.below[i] = false
		if widest < 0 || t.widths[i] > t.widths[widest] {
			widest = i
		}
	}
	return widest
}

// row prints a row, and the columns below it.
func (p *Printer) row(b *strings.Builder, t layout, row []Cell) {
	last := 0
	for i, c := range row {
		if c.Text != "" && !t.below[i] {
			last = i
		}
	}
	at := 0
	for i, c := range row[:last] {
		if !t.below[i] {
			text := middle(c.Text, t.widths[i])
			b.WriteString(p.Paint(c.Color, text) + strings.Repeat(" ", t.widths[i]-ansi.StringWidth(text)+gap))
			at += t.widths[i] + gap
		}
	}
	room := t.widths[last]
	if last == 0 {
		room = t.width
	}
	p.folded(b, row[last], room, at, 0)
	for i, c := range row {
		if !t.below[i] || !c.says() {
			continue
		}
		if i < len(t.heads) {
			c.Text = strings.ToLower(t.heads[i].Text) + ": " + c.Text
		}
		b.WriteString(strings.Repeat(" ", margin))
		p.folded(b, c, t.width-margin, margin, gap)
	}
}

// folded prints a cell whose first line starts at the current column.
func (p *Printer) folded(b *strings.Builder, c Cell, width, at, indent int) {
	if c.Whole {
		width = 0
	}
	for n, line := range fold(c.Text, width, indent) {
		if n > 0 {
			b.WriteString(strings.Repeat(" ", at))
		}
		b.WriteString(p.Paint(c.Color, line) + "\n")
	}
}
