package term

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestPrintable(t *testing.T) {
	for sentence, c := range map[string]struct{ text, want string }{
		"usual text stays":                     {"Deploy to prod? naïve 日本語 👍", "Deploy to prod? naïve 日本語 👍"},
		"an escape sequence is seen":           {"a\x1b[2Jb\a", "a␛[2Jb␇"},
		"so is its form of one character":      {"\u009b2J", "⟨U+009B⟩2J"},
		"line breaks and tabs stand in a line": {"a\nb\r\n\tc", "a⏎b␍⏎␉c"},
		"delete and nul":                       {"\x7f\x00", "␡␀"},
		"what turns the direction of writing":  {"\u202egnp.exe\u2066", "⟨U+202E⟩gnp.exe⟨U+2066⟩"},
		"what has no width":                    {"r\u200bm\u2060\ufeff\u00ad", "r⟨U+200B⟩m⟨U+2060⟩⟨U+FEFF⟩⟨U+00AD⟩"},
		"letters that are not seen":            {"a\u3164\u115f", "a⟨U+3164⟩⟨U+115F⟩"},
		"tags":                                 {"x\U000e0041", "x⟨U+E0041⟩"},
		"blanks that are none":                 {"a\u00a0b\u3000c\u2028d", "a⟨U+00A0⟩b⟨U+3000⟩c⟨U+2028⟩d"},
		"selectors of variants":                {"/tmp/a\U000e0101 1\ufe0f ᠠ\u180b", "/tmp/a⟨U+E0101⟩ 1⟨U+FE0F⟩ ᠠ⟨U+180B⟩"},
		"the style of an emoji":                {"⚠️ Deploy? ⚠\ufe0f\ufe0f", "⚠ Deploy? ⚠⟨U+FE0F⟩"},
		"what is no UTF-8":                     {"a\xff\xfeb", "a⟨U+FFFD⟩b"},
	} {
		t.Run(sentence, func(t *testing.T) {
			if got := Printable(c.text); got != c.want {
				t.Errorf("%q; want %q", got, c.want)
			}
		})
	}
}

// An id that an agent chose can't pass for another column of a line.
func TestWord(t *testing.T) {
	for text, want := range map[string]string{
		"":           "-",
		"s-1/a\n":    "s-1/a⏎",
		"s1  guard":  `"s1  guard"`,
		`s1" deny "`: `"s1\" deny \""`,
	} {
		if got := Word(text); got != want {
			t.Errorf("%q: %q; want %q", text, got, want)
		}
	}
}

// A text of several lines becomes one line, with one sign for each run of line breaks.
func TestOneLine(t *testing.T) {
	for text, want := range map[string]string{
		"Run this?\n\nmake deploy\r\n \n\nAsked because: x\n\n": "Run this? ⏎ make deploy ⏎ Asked because: x",
		"one \x1b[2J": "one ␛[2J",
		"\n\n":        "",
	} {
		if got := OneLine(text); got != want {
			t.Errorf("%q: %q; want %q", text, got, want)
		}
	}
}

func TestPrintableLinesAreBounded(t *testing.T) {
	got := PrintableLines("a\tb\r\n\x1b\n\nd\n", 3)
	want := []string{"a    b", "␛", "", "… cut after 3 lines; --json shows all"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

func FuzzPrintable(f *testing.F) {
	f.Add("a\x1b[2J\u202e\xff")
	f.Fuzz(func(t *testing.T, text string) {
		got := Printable(text)
		if !utf8.ValidString(got) || strings.ContainsFunc(got, Unseen) {
			t.Errorf("%q has what is not seen", got)
		}
		if Printable(got) != got {
			t.Errorf("%q changes once more", got)
		}
	})
}
