package term

import (
	"io"
	"os"
	"strings"

	"github.com/charmbracelet/x/ansi"
	xterm "github.com/charmbracelet/x/term"
)

// Columns is the width of a terminal of unknown size, and of output that is not a terminal.
const Columns = 80

// WidthOf returns the width for output to w: that of the terminal, but at least [Columns].
func WidthOf(w io.Writer) int { return max(ColumnsOf(w), Columns) }

// ColumnsOf returns the width of the terminal w, or [Columns] if it is unknown.
func ColumnsOf(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if width, _, err := xterm.GetSize(f.Fd()); err == nil && width > 0 {
			return width
		}
	}
	return Columns
}

// Fold prints a line of untrusted or long text, which may be painted and has no trailing line
// break. Continuation lines are indented further.
func (p *Printer) Fold(text string) { p.write(folded(text, p.Width)) }

// Wrap breaks a text into lines of a width, as [Printer.Fold] does but without indentation.
func Wrap(text string, width int) []string { return fold(text, width, 0) }

// fold breaks a text into lines of a width, at blanks or within words that are too long. It indents
// all but the first line. A width of 0 is unlimited.
func fold(text string, width, indent int) []string {
	if width <= 0 || ansi.StringWidth(text) <= width {
		return []string{text}
	}
	var lines []string
	line, at, margin := "", 0, "" // at is the width of line
	for text != "" {
		word := strings.TrimLeft(text, " ")
		blanks := text[:len(text)-len(word)]
		if end := strings.IndexByte(word, ' '); end >= 0 {
			word, text = word[:end], word[end:]
		} else {
			text = ""
		}
		if word == "" {
			break
		}
		size := ansi.StringWidth(word)
		switch {
		case at+len(blanks)+size <= width:
			line, at = line+blanks+word, at+len(blanks)+size
			continue
		case at > len(margin):
			lines = append(lines, line)
		}
		margin = strings.Repeat(" ", indent)
		if len(lines) == 0 {
			margin = ""
		}
		parts := strings.Split(ansi.Hardwrap(word, width-indent, true), "\n")
		for _, part := range parts[:len(parts)-1] {
			lines = append(lines, margin+part)
			margin = strings.Repeat(" ", indent)
		}
		line = margin + parts[len(parts)-1]
		at = ansi.StringWidth(line)
	}
	return append(lines, line)
}

// longestWord returns the width of a text's longest word.
func longestWord(text string) (most int) {
	for word := range strings.FieldsSeq(text) {
		most = max(most, ansi.StringWidth(word))
	}
	return most
}

// middle cuts out the middle of a text that is wider than width.
func middle(text string, width int) string {
	size := ansi.StringWidth(text)
	if size <= width {
		return text
	}
	left := (width - 1) / 2
	return ansi.Truncate(text, left, "") + "…" + ansi.TruncateLeft(text, size-(width-1-left), "")
}
