package term

import (
	"strings"
	"unicode"

	"github.com/hookrouter/hookrouter/internal/wire"
)

// Clean makes foreign text fit for a terminal: one line, and nothing that moves
// the cursor, changes colours or turns the direction of writing.
func Clean(text string) string {
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
func escapeControls(text string) string { return wire.EscapeJSON(text, hidden) }

// hidden reports whether a character is invisible or acts on the terminal. Line
// ends do not count: in JSON text they are between values only.
func hidden(r rune) bool { return r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) }

// Clip cuts text for people.
func Clip(text string, limit int) string {
	runes := []rune(text)
	if len(runes) <= limit {
		return text
	}
	return string(runes[:limit-1]) + "…"
}

// CleanLines is clean for text of several lines.
func CleanLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = Clean(line)
	}
	return strings.Join(lines, "\n")
}
