package wire

import (
	"fmt"
	"strings"
)

// EscapeJSON replaces the characters of a JSON text for which escape returns true with \u escapes.
func EscapeJSON(text string, escape func(rune) bool) string {
	if !strings.ContainsFunc(text, escape) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		switch {
		case !escape(r):
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
