package term

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"sync"
)

// Printer writes what commands show: JSON, or text for people. It is safe for
// concurrent use.
type Printer struct {
	JSON    bool // JSON instead of text
	Colored bool
	Width   int // columns that tables and lines keep to; 0 for as many as they need

	indented bool // JSON documents over several lines

	mu  sync.Mutex // guards what follows
	w   io.Writer
	err error // the first of writing
}

// NewPrinter writes to w, in JSON or for people, in color where colored says so, within
// [Columns].
func NewPrinter(w io.Writer, json, terminal, colored bool) *Printer {
	return &Printer{w: w, JSON: json, indented: terminal, Colored: colored, Width: Columns}
}

// Document writes the one JSON document of a command where the output is JSON, and
// reports whether it is.
func (p *Printer) Document(v any) bool { return p.document(v, p.indented) }

// Line is Document for one of several documents, each in one line.
func (p *Printer) Line(v any) bool { return p.document(v, false) }

func (p *Printer) document(v any, indented bool) bool {
	if p.JSON {
		p.writeJSON(v, indented)
	}
	return p.JSON
}

// WriteJSON writes a document that is JSON in text output too.
func (p *Printer) WriteJSON(v any) { p.writeJSON(v, p.indented) }

func (p *Printer) writeJSON(v any, indented bool) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if indented {
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
