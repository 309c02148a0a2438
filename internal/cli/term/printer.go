package term

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"sync"
)

// Printer prints the output of commands: JSON, or text. It is safe for concurrent use.
type Printer struct {
	JSON    bool // print JSON instead of text
	Colored bool
	Width   int // the maximum width of tables and lines; 0 means unlimited

	indented bool // print JSON documents over several lines

	mu  sync.Mutex // guards the fields below
	w   io.Writer
	err error // the first write error
}

// NewPrinter returns a printer to w, for JSON or text. Text is colored if colored is true, and at
// most [Columns] wide.
func NewPrinter(w io.Writer, json, terminal, colored bool) *Printer {
	return &Printer{w: w, JSON: json, indented: terminal, Colored: colored, Width: Columns}
}

// Document prints a command's only JSON document if the output is JSON. It reports whether it is.
func (p *Printer) Document(v any) bool { return p.document(v, p.indented) }

// Line prints one of several JSON documents, each on one line, if the output is JSON. It reports
// whether it is.
func (p *Printer) Line(v any) bool { return p.document(v, false) }

func (p *Printer) document(v any, indented bool) bool {
	if p.JSON {
		p.writeJSON(v, indented)
	}
	return p.JSON
}

// WriteJSON prints JSON, also in text output.
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

// Print prints text. Untrusted parts must have been cleaned with [Clean] or [Printable].
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

// Failure returns the first write error.
func (p *Printer) Failure() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// Color is an ANSI style; empty means plain text.
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

// Paint returns text in a color if the output shows colors.
func (p *Printer) Paint(c Color, text string) string {
	if !p.Colored || c == Plain || text == "" {
		return text
	}
	return "\x1b[" + string(c) + "m" + text + "\x1b[0m"
}
