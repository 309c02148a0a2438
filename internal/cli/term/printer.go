package term

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode/utf8"
)

// Printer writes what commands show: JSON, or text for people. It is safe for
// concurrent use.
type Printer struct {
	JSON    bool // JSON instead of text
	wide    bool // JSON documents over several lines
	Colored bool

	mu  sync.Mutex // guards what follows
	w   io.Writer
	err error // the first of writing
}

// NewPrinter writes to w, in JSON or for people, in color where colored says so.
func NewPrinter(w io.Writer, json, terminal, colored bool) *Printer {
	return &Printer{w: w, JSON: json, wide: terminal, Colored: colored}
}

// Document writes the one JSON document of a command where the output is JSON, and
// reports whether it is.
func (p *Printer) Document(v any) bool { return p.document(v, p.wide) }

// Line is Document for one of several documents, each in one line.
func (p *Printer) Line(v any) bool { return p.document(v, false) }

func (p *Printer) document(v any, wide bool) bool {
	if p.JSON {
		p.writeJSON(v, wide)
	}
	return p.JSON
}

// WriteJSON writes a document that is JSON in text output too.
func (p *Printer) WriteJSON(v any) { p.writeJSON(v, p.wide) }

func (p *Printer) writeJSON(v any, wide bool) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if wide {
		enc.SetIndent("", "  ")
	}
	if err := enc.Encode(v); err != nil {
		p.fail(fmt.Errorf("write JSON: %w", err))
		return
	}
	p.write(escapeControls(b.String()))
}

// Print writes text for people. Foreign parts of it have been through clean.
func (p *Printer) Print(format string, args ...any) { p.write(fmt.Sprintf(format, args...)) }

func (p *Printer) write(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, err := io.WriteString(p.w, text); err != nil && p.err == nil {
		p.err = fmt.Errorf("write output: %w", err)
	}
}

func (p *Printer) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		p.err = err
	}
}

// Failure is the first error of writing.
func (p *Printer) Failure() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// Color is how text stands out on a terminal; empty for plain text.
type Color string

// The colors.
const (
	Plain  Color = ""
	Bold   Color = "1"
	Dim    Color = "2"
	Red    Color = "31"
	Green  Color = "32"
	Yellow Color = "33"
	Cyan   Color = "36"
)

// Paint is text in a color, where the output shows colors.
func (p *Printer) Paint(c Color, text string) string {
	if !p.Colored || c == Plain || text == "" {
		return text
	}
	return "\x1b[" + string(c) + "m" + text + "\x1b[0m"
}

// Cell is one field of a table.
type Cell struct {
	Text  string
	Color Color
	// Marks are parts of the text that stand out in it, in bytes; nil for none. Tables
	// take no notice of them.
	Marks [][2]int
}

// Cell makes a field of this color.
func (c Color) Cell(text string) Cell { return Cell{Text: text, Color: c} }

// Marked is the text of a field with its marks, where the output shows colors.
func (p *Printer) Marked(c Cell) string {
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

// Row makes a row of a table: a [Cell] stands as it is, anything else without color.
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

// Heads makes the first row of a table.
func Heads(texts ...string) []Cell { return Cells(texts, Dim) }

// Facts are the rows of a table of two columns: what is said, and of what.
type Facts [][]Cell

// Add adds a row, nothing where the text is empty.
func (f *Facts) Add(head, text string, color Color) {
	if text != "" {
		*f = append(*f, []Cell{Dim.Cell(head), color.Cell(text)})
	}
}

// Table writes rows in aligned columns, their text cleaned.
func (p *Printer) Table(rows [][]Cell) {
	var widths []int
	for _, r := range rows {
		for i := range r {
			r[i].Text = Clean(r[i].Text)
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(r[i].Text))
		}
	}
	var b strings.Builder
	for _, r := range rows {
		last := len(r) - 1
		for last > 0 && r[last].Text == "" {
			last--
		}
		for i, c := range r[:last+1] {
			b.WriteString(p.Paint(c.Color, c.Text))
			if i < last {
				b.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(c.Text)+2))
			}
		}
		b.WriteByte('\n')
	}
	p.write(b.String())
}
