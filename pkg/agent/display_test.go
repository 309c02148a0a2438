package agent_test

import (
	"bytes"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

func TestTerminalDisplay(t *testing.T) {
	t.Parallel()
	for sentence, c := range map[string]struct {
		level   chain.Level
		message string
		want    string
	}{
		"a message":                        {"warning", "mind the gap", "[warning] hook:H: mind the gap\n"},
		"without a level":                  {"", "m", "[info] hook:H: m\n"},
		"an error":                         {"error", "m", "[error] hook:H: m\n"},
		"text of any language":             {"info", "naïve 日本語 👩\u200d💻\tend", "[info] hook:H: naïve 日本語 👩\u200d💻\tend\n"},
		"escape sequences":                 {"info", "\x1b[2Jgone\u009b31m\a", `[info] hook:H: \x1b[2Jgone` + `\x9b31m\x07` + "\n"},
		"a line that overwrites":           {"info", "bad\rgood", `[info] hook:H: bad\x0dgood` + "\n"},
		"a line that looks like another's": {"info", "a\n[info] hook:G: b\r\nc", "[info] hook:H: a\n    [info] hook:G: b\n    c\n"},
		"line breaks at the end":           {"info", "a\r\n\n", "[info] hook:H: a\n"},
		"line breaks of Unicode":           {"info", "a\u2028b\u0085c", `[info] hook:H: a\u{2028}b\x85c` + "\n"},
		"text that turns its direction":    {"info", "a\u202egnp\u2066.exe", `[info] hook:H: a\u{202e}gnp\u{2066}.exe` + "\n"},
		"text that can't be seen":          {"info", "a\u200b\ufeff\U000e0041", `[info] hook:H: a\u{200b}\u{feff}\u{e0041}` + "\n"},
		"what is no UTF-8":                 {"info", "a\xffb", "[info] hook:H: a\ufffdb\n"},
	} {
		t.Run(sentence, func(t *testing.T) {
			var out bytes.Buffer
			d := verdict.Display{Message: c.message, Level: c.level, Source: "hook:H"}
			if err := agent.NewTerminalDisplay(&out).Show(t.Context(), d); err != nil || out.String() != c.want {
				t.Errorf("got %q, %v, want %q", out.String(), err, c.want)
			}
		})
	}
}

func FuzzTerminalDisplay(f *testing.F) {
	f.Add("hook:H", "a\nb\x1b[31m")
	f.Add("h\nook", "\u202e\r\xff")
	f.Fuzz(func(t *testing.T, source, message string) {
		var out bytes.Buffer
		if err := agent.NewTerminalDisplay(&out).Show(t.Context(), verdict.Display{Message: message, Source: source}); err != nil {
			t.Fatal(err)
		}
		text, ended := strings.CutSuffix(out.String(), "\n")
		if !ended || !utf8.ValidString(text) {
			t.Fatalf("shown as %q", out.String())
		}
		for i, line := range strings.Split(text, "\n") {
			if i == 0 != strings.HasPrefix(line, "[info] ") || i > 0 && !strings.HasPrefix(line, "    ") {
				t.Fatalf("line %d is %q", i, line)
			}
			for _, c := range line {
				if unicode.IsControl(c) && c != '\t' || unicode.In(c, unicode.Bidi_Control, unicode.Zl, unicode.Zp) {
					t.Fatalf("shows %U: %q", c, line)
				}
			}
		}
	})
}
