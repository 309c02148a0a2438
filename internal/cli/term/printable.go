package term

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/hookrouter/hookrouter/pkg/approval"
)

// Printable makes untrusted text safe for the terminal of a person who must judge it. It returns a
// single line in which nothing acts on the terminal, reverses the writing direction, or is
// invisible. Such characters are shown as signs: ␛ for escape, ⏎ for a line break, ⟨U+202E⟩ for
// those without a sign. It removes only characters that style an emoji (see [approval.Styles]),
// since terminals disagree on the width of the result.
func Printable(text string) string {
	if !strings.ContainsFunc(text, Unseen) {
		return text
	}
	var b strings.Builder
	before := rune(0)
	for _, r := range strings.ToValidUTF8(text, "\ufffd") {
		switch {
		case !Unseen(r):
			b.WriteRune(r)
		case approval.Styles(before, r):
		case r == '\n':
			b.WriteRune('⏎')
		case r == '\t':
			b.WriteRune('␉')
		default:
			b.WriteString(approval.Visible(string(r)))
		}
		before = r
	}
	return b.String()
}

// Word applies [Printable] to a text that is one word among others. It quotes a text with blanks,
// which could pass for several words, and returns a dash for an empty one.
func Word(text string) string {
	text = Printable(text)
	if strings.ContainsFunc(text, unicode.IsSpace) {
		return strconv.Quote(text)
	}
	return OrDash(text)
}

// OneLine applies [Printable] to a text of several lines, to show it on one. It replaces each run
// of line breaks with a ⏎ between blanks, and removes those at the end.
func OneLine(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(line, "\r\n"); strings.TrimSpace(line) != "" {
			lines = append(lines, line)
		}
	}
	return Printable(strings.Join(lines, " ⏎ "))
}

// PrintableLines applies [Printable] to each line of a text, with tabs as blanks. After limit lines
// it adds a line that says that the text was cut.
func PrintableLines(text string, limit int) []string {
	var lines []string
	for line := range strings.SplitSeq(strings.TrimRight(strings.ReplaceAll(text, "\r\n", "\n"), "\n"), "\n") {
		if len(lines) == limit {
			return append(lines, fmt.Sprintf("… cut after %d lines; --json shows all", limit))
		}
		lines = append(lines, Printable(strings.ReplaceAll(line, "\t", "    ")))
	}
	return lines
}

// Unseen reports whether a character is invisible or acts on the terminal; see [approval.Unseen].
func Unseen(r rune) bool { return approval.Unseen(r) }

// Agent returns the source of an agent without the leading slash of CloudEvents sources.
func Agent(source string) string { return Printable(strings.TrimPrefix(source, "/")) }
