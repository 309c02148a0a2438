package approval_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hookrouter/hookrouter/pkg/approval"
)

func TestVisible(t *testing.T) {
	t.Parallel()
	for sentence, test := range map[string]struct{ text, want string }{
		"usual text stays":                {"Deploy?\n\n\tnaïve 日本語 👍 ❤️", "Deploy?\n\n\tnaïve 日本語 👍 ❤️"},
		"joiners of emoji and scripts":    {"👩\u200d👩\u200d👧 👩🏽\u200d💻 می\u200cخواهم क्\u200dष", "👩\u200d👩\u200d👧 👩🏽\u200d💻 می\u200cخواهم क्\u200dष"},
		"a joiner between Latin letters":  {"git\u200dhub.com", "git⟨U+200D⟩hub.com"},
		"what turns the writing":          {"cu\u202erl\u2066", "cu⟨U+202E⟩rl⟨U+2066⟩"},
		"escapes":                         {"ls\x1b[2K\a\x7f", "ls␛[2K␇␡"},
		"what has no width":               {"r\u200bm\ufeff\U000e0041", "r⟨U+200B⟩m⟨U+FEFF⟩⟨U+E0041⟩"},
		"blanks that are none":            {"a\u00a0b\u2800c\u3000", "a⟨U+00A0⟩b⟨U+2800⟩c⟨U+3000⟩"},
		"selectors of variants":           {"/tmp/a\U000e0101/b\ufe0f/ᠠ\u180b/葛\U000e0100", "/tmp/a⟨U+E0101⟩/b⟨U+FE0F⟩/ᠠ⟨U+180B⟩/葛⟨U+E0100⟩"},
		"two selectors of an emoji":       {"⚠\ufe0f\ufe0f", "⚠\ufe0f⟨U+FE0F⟩"},
		"a joiner behind a sign":          {"a\ufe0f\u200d字", "a⟨U+FE0F⟩⟨U+200D⟩字"},
		"a joiner before a sign":          {"字\u200d\ufe0f", "字⟨U+200D⟩⟨U+FE0F⟩"},
		"styles of symbols":               {"⚠️ ❤\ufe0f\u200d🔥 ☎\ufe0e ‼️ ℹ️ ↔️", "⚠️ ❤\ufe0f\u200d🔥 ☎\ufe0e ‼️ ℹ️ ↔️"},
		"as many marks as a script needs": {"Ti\u00ea\u0301ng שִׁ", "Ti\u00ea\u0301ng שִׁ"},
		"marks that cover what is around": {"ls a" + strings.Repeat("\u0336\u20dd", 500) + "; rm", "ls a⟨1000 marks⟩; rm"},
		"joiners between such marks":      {"क" + strings.Repeat("\u0336\u200d", 50) + "; rm", "क⟨100 marks⟩; rm"},
		"bytes in selectors":              {"👍" + strings.Repeat("\U000e0141", 200), "👍⟨200 marks⟩"},
		"no UTF-8":                        {"a\xffb", "a⟨U+FFFD⟩b"},
		"line ends of Windows":            {"a\u00a0\r\nb\rc", "a⟨U+00A0⟩\nb␍c"},
		"as many blanks as stay":          {"a" + strings.Repeat(" ", 80) + "b", "a" + strings.Repeat(" ", 80) + "b"},
		"blanks that push the rest away":  {"ls" + strings.Repeat(" \t", 1000) + "; rm", "ls⟨2000 blanks⟩; rm"},
		"a few empty lines":               {"a\n\n\nb", "a\n\n\nb"},
		"lines that push the rest away":   {"ls" + strings.Repeat("\n", 500) + "rm", "ls\n⟨499 empty lines⟩\nrm"},
		"lines of blanks that push it":    {"ls" + strings.Repeat("\n   ", 500) + "rm", "ls\n⟨499 empty lines⟩\n   rm"},
		"many lines with something in it": {strings.Repeat("a\n", 20), strings.Repeat("a\n", 20)},
	} {
		if got := approval.Visible(test.text); got != test.want {
			t.Errorf("%s: %q; want %q", sentence, got, test.want)
		}
	}
}

func FuzzVisible(f *testing.F) {
	f.Add("a\x1b[2J\u202e\xff\u200d\xff\n\n\n\n\n\n\n\n\n\n\n")
	f.Add("⚠\ufe0f\ufe0f\u200d字\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u200d\u0301")
	f.Fuzz(func(t *testing.T, text string) {
		got := approval.Visible(text)
		if !utf8.ValidString(got) || strings.ContainsFunc(got, func(r rune) bool {
			return approval.Unseen(r) && !strings.ContainsRune("\n\t\u200c\u200d\ufe0e\ufe0f", r)
		}) {
			t.Errorf("%q has what is not seen", got)
		}
		if approval.Visible(got) != got {
			t.Errorf("%q changes once more", got)
		}
	})
}
