package term

import (
	"strings"
	"unicode"

	"github.com/hookrouter/hookrouter/internal/wire"
)

// Clean makes untrusted text safe for a terminal: it returns a single line without characters that
// move the cursor, change colors or reverse the writing direction.
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

// escapeControls escapes what Clean would remove, and JSON allows, as JSON escapes.
func escapeControls(text string) string { return wire.EscapeJSON(text, hidden) }

// hidden reports whether a character is invisible or acts on the terminal. Line breaks do not
// count: in JSON text they occur only between values.
func hidden(r rune) bool { return r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) }

// Clip cuts text to a number of characters.
func Clip(text string, limit int) string {
	runes := []rune(text)
	if len(runes) <= limit {
		return text
	}
	return string(runes[:limit-1]) + "…"
}

// CleanLines applies [Clean] to each line of a text.
func CleanLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = Clean(line)
	}
	return strings.Join(lines, "\n")
}
