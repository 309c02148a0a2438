package chain

import (
	"bytes"
	"slices"
	"strconv"
	"unicode/utf16"
)

// escapeLen is the length of an escape such as \ufffd.
const escapeLen = 6

// WellFormed returns JSON text with \ufffd in place of each escape of a lone half of a surrogate
// pair. JavaScript writes these when it cuts a text within a character, and some parsers reject
// them. If there are none, it returns text itself.
func WellFormed(text []byte) []byte {
	var fixed []byte
	for i := 0; ; {
		next := bytes.IndexByte(text[i:], '\\')
		if next < 0 {
			break
		}
		i += next
		unit, ok := escaped(text[i:])
		switch {
		case !ok:
			i += 2 // the escape of one character
		case !utf16.IsSurrogate(unit):
			i += escapeLen
		case paired(unit, text[i+escapeLen:]):
			i += 2 * escapeLen
		default:
			if fixed == nil {
				fixed = slices.Clone(text)
			}
			i += copy(fixed[i:], `\ufffd`)
		}
		if i >= len(text) {
			break
		}
	}
	if fixed == nil {
		return text
	}
	return fixed
}

// paired reports whether first is the first half of a surrogate pair and rest begins with the
// second.
func paired(first rune, rest []byte) bool {
	second, ok := escaped(rest)
	return ok && utf16.DecodeRune(first, second) != '\ufffd'
}

// escaped returns the UTF-16 code unit of an escape with four digits at the start of text.
func escaped(text []byte) (unit rune, ok bool) {
	if len(text) < escapeLen || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(text[2:escapeLen]), 16, 16)
	return rune(n), err == nil
}
