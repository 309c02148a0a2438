package approval

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of blanks and combining marks. More of them push text out of sight or cover it, so
// [Visible] writes their number instead.
const (
	maxBlanks     = 80 // in a row
	maxEmptyLines = 8
	maxMarks      = 8 // on one character
)

var (
	marks      = regexp.MustCompile(fmt.Sprintf(`(?:\p{M}[\x{200c}\x{200d}]?){%d,}`, maxMarks+1))
	blanks     = regexp.MustCompile(fmt.Sprintf(`[ \t]{%d,}`, maxBlanks+1))
	emptyLines = regexp.MustCompile(fmt.Sprintf(`\n([ \t]*\n){%d,}`, maxEmptyLines+1))
)

// Visible returns a text as a person can safely judge it. It replaces characters that are
// invisible, or that hide or move other text, by signs such as ⟨U+202E⟩, ␛ for escape, and ⟨2000
// blanks⟩ for a run of blanks. Line breaks, tabs, joiners of emoji and of scripts that need them,
// and variation selectors of emoji ([Styles]) stay.
func Visible(text string) string {
	if strings.ContainsFunc(text, unicode.IsMark) {
		text = marks.ReplaceAllStringFunc(text, func(run string) string {
			return fmt.Sprintf("⟨%d marks⟩", utf8.RuneCountInString(run))
		})
	}
	if strings.ContainsFunc(text, func(r rune) bool { return Unseen(r) && r != '\n' && r != '\t' }) {
		text = signs(text)
	}
	text = emptyLines.ReplaceAllStringFunc(text, func(run string) string {
		return fmt.Sprintf("\n⟨%d empty lines⟩\n", strings.Count(run, "\n")-1)
	})
	return blanks.ReplaceAllStringFunc(text, func(run string) string { return fmt.Sprintf("⟨%d blanks⟩", len(run)) })
}

// signs replaces invisible characters by signs.
func signs(text string) string {
	var b strings.Builder
	runes := []rune(strings.ReplaceAll(strings.ToValidUTF8(text, "\ufffd"), "\r\n", "\n"))
	before := rune(0) // the last character, 0 if it has a sign
	for i, r := range runes {
		stays := !Unseen(r) || r == '\n' || r == '\t' || Styles(before, r) ||
			(r == '\u200c' || r == '\u200d') && i+1 < len(runes) && (before == emojiStyle || joined(before)) && joined(runes[i+1])
		switch {
		case stays:
			b.WriteRune(r)
		case r < ' ':
			b.WriteRune('␀' + r)
		case r == 0x7f:
			b.WriteRune('␡')
		default:
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
		}
		if before = r; !stays {
			before = 0
		}
	}
	return b.String()
}

// joined reports whether a joiner next to a character affects how it looks.
func joined(r rune) bool {
	return !Unseen(r) && unicode.In(r, unicode.Letter, unicode.Mark, unicode.So, unicode.Sk) && !unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic)
}

const (
	textStyle  = '\ufe0e'
	emojiStyle = '\ufe0f'
)

// Styles reports whether r only chooses between the emoji and the text form of the symbol before
// it.
func Styles(before, r rune) bool {
	return (r == textStyle || r == emojiStyle) && before > unicode.MaxASCII &&
		(before == 'ℹ' || unicode.In(before, unicode.So, unicode.Sm, unicode.Po, unicode.Pd))
}

// Unseen reports whether a character has no visible form of its own, such as controls, joiners and
// direction marks. Blanks other than the usual one count too, since a command may hide behind them,
// and so do variation selectors, which make a different file name that looks the same.
func Unseen(r rune) bool {
	return r == unicode.ReplacementChar || r == '\u2800' || r == '\U0001d159' || !unicode.IsPrint(r) ||
		unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}
