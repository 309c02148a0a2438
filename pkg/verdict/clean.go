package verdict

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clean removes characters that make a text look different from what it is, to a person or a model,
// and returns their number (code points):
//
//   - controls (C0, DEL, C1), except newline and tab; CR LF becomes LF,
//   - whole escape sequences; an unterminated one ends with its line at the latest,
//   - embeddings, overrides and isolates of the bidirectional algorithm, U+FEFF, U+200B, and the tag
//     characters, including those of flags,
//   - the joiners U+200C and U+200D, unless they are between two letters (or marks) or emoji.
//
// Invalid UTF-8 becomes U+FFFD. A clean text is returned unchanged, without allocation. Clean is
// idempotent.
func Clean(text string) (clean string, removed int) {
	var out strings.Builder
	kept := 0       // text[kept:i] is clean and not yet in out
	prev := rune(0) // the last character that was kept
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		cut := deceiving(prev, r, text[i:], size)
		invalid := r == utf8.RuneError && size == 1
		if cut == 0 && !invalid {
			prev = r
			i += size
			continue
		}
		out.WriteString(text[kept:i])
		if invalid {
			out.WriteRune(utf8.RuneError)
			prev, cut = r, size
		} else {
			removed += utf8.RuneCountInString(text[i : i+cut])
		}
		i += cut
		kept = i
	}
	if kept == 0 {
		return text, 0
	}
	out.WriteString(text[kept:])
	return out.String(), removed
}

// deceiving returns how many bytes to remove at the start of rest. Its first character r has the
// given size and would follow prev.
func deceiving(prev, r rune, rest string, size int) int {
	switch {
	case r >= ' ' && r <= '~', r == '\n', r == '\t':
		return 0
	case r == esc, r >= 0x80 && r <= 0x9f:
		return escape(r, rest, size)
	case r == zwnj, r == zwj:
		if next, _ := utf8.DecodeRuneInString(rest[size:]); joins(prev) && joins(next) {
			return 0
		}
		return size
	case r < ' ', r == 0x7f, unicode.Is(invisible, r):
		return size
	}
	return 0
}

const (
	zwnj = '\u200c' // zero width non-joiner
	zwj  = '\u200d' // zero width joiner
)

// invisible holds the characters that are removed everywhere.
var invisible = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x200b, Hi: 0x200b, Stride: 1}, // zero width space
		{Lo: 0x202a, Hi: 0x202e, Stride: 1}, // bidi embeddings and overrides
		{Lo: 0x2066, Hi: 0x2069, Stride: 1}, // bidi isolates
		{Lo: 0xfeff, Hi: 0xfeff, Stride: 1}, // byte order mark
	},
	R32: []unicode.Range32{
		{Lo: 0xe0000, Hi: 0xe007f, Stride: 1}, // tags
	},
}

// joins reports whether a joiner next to r has a meaning: r is a letter, a mark (such as the
// variation selector of emoji) or an emoji.
func joins(r rune) bool {
	if r == utf8.RuneError { // a symbol, and also the value beyond the text's end
		return false
	}
	return unicode.In(r, unicode.Letter, unicode.Mark, unicode.So) ||
		r >= 0x1f000 && r <= 0x1faff || // emoji, skin tones and those to come
		r == 0x2194 // the one arrow among emoji sequences that is no So
}
