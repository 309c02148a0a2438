package term

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/hookrouter/hookrouter/pkg/approval"
)

// Printable makes foreign text fit for the terminal of a person who must judge
// it: one line, in which nothing acts on the terminal, turns the direction of
// writing or hides. What would is shown by a sign of its own: ␛ for escape, ⏎
// for a line break, ⟨U+202E⟩ for what has none. Nothing is removed but what [approval.Styles] an
// emoji: terminals disagree on how wide that makes it.
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

// Word is Printable for a text that stands as one word among others. One with blanks, which could pass
// for several words, is quoted; a dash stands for an empty one.
func Word(text string) string {
	text = Printable(text)
	if strings.ContainsFunc(text, unicode.IsSpace) {
		return strconv.Quote(text)
	}
	return OrDash(text)
}

// OneLine is Printable for a text of several lines that is shown on one: a ⏎ with blanks around
// it stands for each run of line breaks, and none at the end.
func OneLine(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(line, "\r\n"); strings.TrimSpace(line) != "" {
			lines = append(lines, line)
		}
	}
	return Printable(strings.Join(lines, " ⏎ "))
}

// PrintableLines is printable for each line of a text, tabs being blanks. It ends
// with a line that says so if there are more than so many.
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

// Unseen reports whether a character is invisible or acts on the terminal, see
// [approval.Unseen].
func Unseen(r rune) bool { return approval.Unseen(r) }

// Agent is the source of an agent as people name it: without the slash that the sources of
// CloudEvents begin with.
func Agent(source string) string { return Printable(strings.TrimPrefix(source, "/")) }
