package approval

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

// Bounds of what stands in a text without being seen: more than these push the rest out of
// sight, and are told as a number.
const (
	maxBlanks     = 80 // in a row
	maxEmptyLines = 8
)

var (
	blanks     = regexp.MustCompile(fmt.Sprintf(`[ \t]{%d,}`, maxBlanks+1))
	emptyLines = regexp.MustCompile(fmt.Sprintf(`\n([ \t]*\n){%d,}`, maxEmptyLines+1))
)

// Visible is a text for somebody who must judge it: what is not seen, hides or moves what is
// around it, has a sign of its own, such as ⟨U+202E⟩, ␛ for escape, and ⟨2000 blanks⟩ for as many
// in a row. Line breaks and tabs stay, and so do joiners of emoji and of scripts that need them.
// A text that is visible already is returned as it is.
func Visible(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool { return Unseen(r) && r != '\n' && r != '\t' }) {
		text = signs(text)
	}
	text = emptyLines.ReplaceAllStringFunc(text, func(run string) string {
		return fmt.Sprintf("\n⟨%d empty lines⟩\n", strings.Count(run, "\n")-1)
	})
	return blanks.ReplaceAllStringFunc(text, func(run string) string { return fmt.Sprintf("⟨%d blanks⟩", len(run)) })
}

// signs puts signs in the place of what is not seen.
func signs(text string) string {
	var b strings.Builder
	runes := []rune(strings.ReplaceAll(strings.ToValidUTF8(text, "\ufffd"), "\r\n", "\n"))
	for i, r := range runes {
		switch {
		case !Unseen(r) || r == '\n' || r == '\t':
			b.WriteRune(r)
		case (r == '\u200c' || r == '\u200d') && i > 0 && i+1 < len(runes) && joined(runes[i-1]) && joined(runes[i+1]):
			b.WriteRune(r)
		case r < ' ':
			b.WriteRune('␀' + r)
		case r == 0x7f:
			b.WriteRune('␡')
		default:
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
		}
	}
	return b.String()
}

// joined reports whether a joiner beside a character changes how it looks.
func joined(r rune) bool {
	return !Unseen(r) && unicode.In(r, unicode.Letter, unicode.Mark, unicode.So, unicode.Sk) && !unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic)
}

// Unseen reports whether a character does something else than stand there and be seen. Blanks
// other than the usual one are among them: a command may hide in front of them.
func Unseen(r rune) bool {
	return r == unicode.ReplacementChar || r == '\u2800' || !unicode.IsPrint(r) || unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r)
}
