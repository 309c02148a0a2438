package term

import (
	"io"
	"os"
	"strings"

	"github.com/charmbracelet/x/ansi"
	xterm "github.com/charmbracelet/x/term"
)

// Columns are those of a terminal whose size is not known, and of what is not a terminal.
const Columns = 80

// WidthOf is how many columns there are for what is written to w: those of the terminal,
// [Columns] where it is none or a narrower one.
func WidthOf(w io.Writer) int { return max(ColumnsOf(w), Columns) }

// ColumnsOf is how many columns the terminal has that w is, [Columns] where that is not known.
func ColumnsOf(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if width, _, err := xterm.GetSize(f.Fd()); err == nil && width > 0 {
			return width
		}
	}
	return Columns
}

// Fold writes a line of foreign or long text, which may be painted and has no line break at
// its end. It continues on lines that are indented further.
func (p *Printer) Fold(text string) { p.write(folded(text, p.Width)) }

// Wrap breaks a text into lines of a width as [Printer.Fold] does, none of them indented.
func Wrap(text string, width int) []string { return fold(text, width, 0) }

// fold breaks a text into lines of a width, at blanks, or within words that are too long; all
// but the first are indented. A width of 0 is unlimited.
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

// longestWord is the width of a text's longest word.
func longestWord(text string) (most int) {
	for word := range strings.FieldsSeq(text) {
		most = max(most, ansi.StringWidth(word))
	}
	return most
}

// middle is a text without its middle, where it is wider than width.
func middle(text string, width int) string {
	size := ansi.StringWidth(text)
	if size <= width {
		return text
	}
	left := (width - 1) / 2
	return ansi.Truncate(text, left, "") + "…" + ansi.TruncateLeft(text, size-(width-1-left), "")
}
