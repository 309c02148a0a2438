package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// printer writes what commands show: JSON, or text for people. It is safe for
// concurrent use.
type printer struct {
	json  bool // JSON instead of text
	wide  bool // JSON documents over several lines
	color bool

	mu  sync.Mutex // guards what follows
	w   io.Writer
	err error // the first of writing
}

func newPrinter(p process, c cli) *printer {
	return &printer{
		w: p.stdout, json: c.JSON || !p.terminal && !c.Text, wide: p.terminal,
		color: p.terminal && p.getenv("NO_COLOR") == "" && p.getenv("TERM") != "dumb",
	}
}

// document writes the one JSON document of a command.
func (p *printer) document(v any) { p.writeJSON(v, p.wide) }

// line writes one JSON document in one line, of several.
func (p *printer) line(v any) { p.writeJSON(v, false) }

func (p *printer) writeJSON(v any, wide bool) {
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

// print writes text for people. Foreign parts of it have been through clean.
func (p *printer) print(format string, args ...any) { p.write(fmt.Sprintf(format, args...)) }

func (p *printer) write(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, err := io.WriteString(p.w, text); err != nil && p.err == nil {
		p.err = fmt.Errorf("write output: %w", err)
	}
}

// plural is a count of things: 1 hook, 2 hooks.
func plural(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

func (p *printer) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		p.err = err
	}
}

func (p *printer) failure() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// The colours.
const (
	plain  = ""
	bold   = "1"
	dim    = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
	cyan   = "36"
)

func (p *printer) paint(color, text string) string {
	if !p.color || color == plain || text == "" {
		return text
	}
	return "\x1b[" + color + "m" + text + "\x1b[0m"
}

// cell is one field of a table.
type cell struct{ text, color string }

// row makes a row of cells without colour.
func row(texts ...string) []cell {
	cells := make([]cell, len(texts))
	for i, text := range texts {
		cells[i].text = text
	}
	return cells
}

// heads makes the first row of a table.
func heads(texts ...string) []cell {
	cells := row(texts...)
	for i := range cells {
		cells[i].color = dim
	}
	return cells
}

// table writes rows in aligned columns, their text cleaned.
func (p *printer) table(rows [][]cell) {
	var widths []int
	for _, r := range rows {
		for i := range r {
			r[i].text = clean(r[i].text)
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(r[i].text))
		}
	}
	var b strings.Builder
	for _, r := range rows {
		last := len(r) - 1
		for last > 0 && r[last].text == "" {
			last--
		}
		for i, c := range r[:last+1] {
			b.WriteString(p.paint(c.color, c.text))
			if i < last {
				b.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(c.text)+2))
			}
		}
		b.WriteByte('\n')
	}
	p.write(b.String())
}

// clean makes foreign text fit for a terminal: one line, and nothing that moves
// the cursor, changes colours or turns the direction of writing.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r' || unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\ufffd"))
}

// escapeControls writes what clean would take away, and JSON allows as it is,
// in the escaped form of JSON.
func escapeControls(text string) string {
	if !strings.ContainsFunc(text, hidden) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		switch {
		case !hidden(r):
			b.WriteRune(r)
		case r > 0xffff:
			r -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// hidden reports whether a character does something else than stand there. Line
// ends are not among them: in JSON text they stand between the values only.
func hidden(r rune) bool { return r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) }

// clip cuts text for people.
func clip(text string, limit int) string {
	runes := []rune(text)
	if len(runes) <= limit {
		return text
	}
	return string(runes[:limit-1]) + "…"
}
