package process

import (
	"strings"
	"unicode"

	"github.com/hookrouter/hookrouter/internal/shorten"
)

// printableSize is the maximum length of the result of Printable, in characters.
const printableSize = 200

// Printable returns a line of a program's output for people: without control characters, and cut
// after 200 characters.
func Printable(line []byte) string {
	text := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(string(line), "?"))
	return shorten.Runes(strings.TrimSpace(text), printableSize, "...")
}
