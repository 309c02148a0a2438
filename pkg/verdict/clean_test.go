package verdict_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hookrouter/hookrouter/pkg/verdict"
)

func TestClean(t *testing.T) {
	for sentence, c := range map[string]struct {
		text, want string
		removed    int
	}{
		"nothing":                          {"", "", 0},
		"plain text":                       {"Line 42:\tE501\n", "Line 42:\tE501\n", 0},
		"text of the world":                {"é 漢字 שלום مرحبا 🙂 – “x”", "é 漢字 שלום مرحبا 🙂 – “x”", 0},
		"every C0 control and DEL":         {"a\x00\x01\x07\x08\x0b\x0c\x0e\x1a\x1c\x1f\x7fb", "ab", 11},
		"C1 controls":                      {"a\u0080\u0085\u008d\u009ab", "ab", 4},
		"CR LF":                            {"a\r\nb", "a\nb", 1},
		"a lone CR":                        {"visible\rhidden", "visiblehidden", 1},
		"two CR before LF":                 {"a\r\r\nb", "a\nb", 2},
		"a colour":                         {"\x1b[1;31mred\x1b[0m", "red", 11},
		"a private CSI":                    {"\x1b[?25lx\x1b[>4;2m\x1b[!p", "x", 17},
		"a CSI with an intermediate":       {"\x1b[2 qx", "x", 5},
		"a CSI as C1":                      {"\u009b31mx", "x", 4},
		"a CSI that is cut off":            {"x\x1b[31", "x", 4},
		"a CSI at the end of its line":     {"x\x1b[31\ny", "x\ny", 4},
		"a CSI that meets a letter":        {"\x1b[3éx", "éx", 3},
		"ESC [ alone":                      {"x\x1b[", "x", 2},
		"ESC alone":                        {"x\x1b", "x", 1},
		"ESC at the end of its line":       {"x\x1b\ny", "x\ny", 1},
		"ESC before a letter of no use":    {"\x1béx", "éx", 1},
		"ESC before ESC":                   {"\x1b\x1b[1mx", "x", 5},
		"a title with BEL":                 {"\x1b]0;title\x07x", "x", 10},
		"a title with ST":                  {"\x1b]0;title\x1b\\x", "x", 11},
		"a title with ST as C1":            {"\x1b]0;title\u009cx", "x", 10},
		"a title as C1":                    {"\u009d0;title\x07x", "x", 9},
		"an entry":                         {"\x1b]8;;http://e.x/é\x1b\\here\x1b]8;;\x1b\\", "here", 26},
		"a title that is cut off":          {"\x1b]0;title\nrest", "\nrest", 9},
		"a title ends with its line":       {"\x1b]0;a\nrest\x07", "\nrest", 6},
		"a title ends with CR LF":          {"\x1b]0;a\r\nrest", "\nrest", 6},
		"a title that is given up":         {"\x1b]0;a\x18rest", "rest", 6},
		"a title that is substituted":      {"\x1b]0;a\x1arest", "rest", 6},
		"a title before a colour":          {"\x1b]0;a\x1b[1mrest", "rest", 9},
		"a title before a C1 control":      {"\x1b]0;a\u009b1mrest", "rest", 8},
		"a device control string":          {"\x1bPq#0\x07~\x1b\\x", "x", 9},
		"a device control string as C1":    {"\u0090q\u009cx", "x", 3},
		"SOS, PM and APC":                  {"\x1bXa\x1b\\1\x1b^b\x1b\\2\x1b_c\x1b\\3", "123", 15},
		"SOS, PM and APC as C1":            {"\u0098a\u009c1\u009eb\u009c2\u009fc\u009c3", "123", 9},
		"two-character sequences":          {"\x1bc\x1b7\x1bM\x1b=\x1b~x", "x", 10},
		"a character set":                  {"\x1b(B\x1b#8\x1b $Fx", "x", 10},
		"a character set that is cut":      {"\x1b(\nx", "\nx", 2},
		"bidi overrides":                   {"a\u202a\u202b\u202c\u202d\u202eb", "ab", 5},
		"bidi isolates":                    {"a\u2066\u2067\u2068\u2069b", "ab", 4},
		"bidi marks stay":                  {"a\u200e\u200f\u061cb", "a\u200e\u200f\u061cb", 0},
		"neighbours of what is removed":    {"\u200a\u2029\u202f\u2065\u206a", "\u200a\u2029\u202f\u2065\u206a", 0},
		"a byte order mark":                {"\ufeffa\ufeff", "a", 2},
		"a zero width space":               {"a\u200bb", "ab", 1},
		"tags":                             {"a\U000E0001\U000E0041\U000E007Fb", "ab", 3},
		"what follows tags":                {"\U000E0080\U000E0100", "\U000E0080\U000E0100", 0},
		"a flag made of tags":              {"\U0001F3F4\U000E0067\U000E0062\U000E007F", "\U0001F3F4", 3},
		"a flag of two letters":            {"🇩🇪", "🇩🇪", 0},
		"a non-joiner between letters":     {"می\u200cخواهم", "می\u200cخواهم", 0},
		"a joiner behind a mark":           {"ක\u0dca\u200dර", "ක\u0dca\u200dර", 0},
		"a family":                         {"👨\u200d👩\u200d👧", "👨\u200d👩\u200d👧", 0},
		"a skin tone before a joiner":      {"👩🏽\u200d🚒", "👩🏽\u200d🚒", 0},
		"a selector before a joiner":       {"🏳\ufe0f\u200d🌈 👁\ufe0f\u200d🗨\ufe0f", "🏳\ufe0f\u200d🌈 👁\ufe0f\u200d🗨\ufe0f", 0},
		"a symbol behind a joiner":         {"🏃\u200d♀\ufe0f", "🏃\u200d♀\ufe0f", 0},
		"an arrow behind a joiner":         {"🙂\u200d↔\ufe0f", "🙂\u200d↔\ufe0f", 0},
		"an emoji of a later Unicode":      {"👩\u200d\U0001FAFF", "👩\u200d\U0001FAFF", 0},
		"joiners in front and at the end":  {"\u200da\u200c", "a", 2},
		"a joiner beside what is no UTF-8": {"\xff\u200d\ufffd\u200d", "\ufffd\ufffd", 2},
		"a joiner behind what is no UTF-8": {"a\xff\u200db", "a\ufffdb", 1},
		"a joiner before a space":          {"a\u200d b", "a b", 1},
		"a joiner between digits":          {"1\u200d2", "12", 1},
		"two joiners":                      {"a\u200d\u200cb", "a\u200cb", 1},
		"a joiner beside a hidden space":   {"a\u200d\u200bb", "ab", 2},
		"a joiner behind a colour":         {"a\x1b[m\u200db", "a\u200db", 3},
		"bytes that are no UTF-8":          {"a\xff\xc3b", "a\ufffd\ufffdb", 0},
		"a C1 control as a single byte":    {"a\x9b1m", "a\ufffd1m", 0},
	} {
		t.Run(sentence, func(t *testing.T) {
			got, removed := verdict.Clean(c.text)
			if got != c.want || removed != c.removed {
				t.Errorf("%q becomes %q with %d removed, want %q with %d", c.text, got, removed, c.want, c.removed)
			}
		})
	}
}

func TestCleanTextIsNotCopied(t *testing.T) {
	text := strings.Repeat("plain, 漢字 and 👩\u200d🚒\n", 100)
	if n := testing.AllocsPerRun(10, func() { verdict.Clean(text) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzClean: what is clean stays so, has nothing forbidden, and lost nothing else.
func FuzzClean(f *testing.F) {
	for _, s := range []string{
		"", "a\r\nb", "\x1b]0;t\x07x", "\x1b[31mred", "a\u200d\u200bb\u200c", "👩🏽\u200d🚒", "\u009d\x1b\\\xff", "\U0001F3F4\U000E0067\U000E007F",
		"\x1b\x1b]\x1b[\u009b", "a\u202eb\ufeff", "\x1bP\x07\n\x1b\\", "\xff\u200d\xfe", "a\u200d\x1b[mb",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		clean, removed := verdict.Clean(text)
		if again, more := verdict.Clean(clean); again != clean || more != 0 {
			t.Fatalf("%q becomes %q, and then %q with %d removed", text, clean, again, more)
		}
		if !utf8.ValidString(clean) {
			t.Fatalf("%q becomes %q, no UTF-8", text, clean)
		}
		if i := strings.IndexFunc(clean, forbidden); i >= 0 {
			t.Fatalf("%q becomes %q, with a forbidden character at byte %d", text, clean, i)
		}
		if utf8.RuneCountInString(text) != utf8.RuneCountInString(clean)+removed {
			t.Fatalf("%q becomes %q with %d removed", text, clean, removed)
		}
		if strings.Count(text, "\n") != strings.Count(clean, "\n") {
			t.Fatalf("%q becomes %q: a line is lost", text, clean)
		}
	})
}

func forbidden(r rune) bool {
	switch {
	case r == '\n', r == '\t':
		return false
	case r < 0x20, r >= 0x7f && r <= 0x9f, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r >= 0xe0000 && r <= 0xe007f:
		return true
	}
	return r == 0xfeff || r == 0x200b
}
