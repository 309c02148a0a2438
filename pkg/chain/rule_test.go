package chain_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hookrouter/hookrouter/pkg/chain"
)

func TestWhatIsKeptOfARule(t *testing.T) {
	for given, want := range map[string]string{
		"":                                 "",
		"worker.yaml:12 cel.rules[1]":      "worker.yaml:12 cel.rules[1]",
		" guards/wächter.yaml:3 größe ":    "guards/wächter.yaml:3 größe",
		"a.yaml:1\nverdict: allowed":       `a.yaml:1\u{a}verdict: allowed`,
		"a.yaml:1 \x1b[2J\x9b31mred":       `a.yaml:1 \u{1b}[2J\u{fffd}31mred`,
		"a.yaml:1 \u202egnp.exe\u2066":     `a.yaml:1 \u{202e}gnp.exe\u{2066}`,
		"a.yaml:1 zero\u200bwidth\ufeff":   `a.yaml:1 zero\u{200b}width\u{feff}`,
		"a.yaml:1 tag\U000e0041 \u00a0gap": `a.yaml:1 tag\u{e0041} \u{a0}gap`,
		"line\u2028separator":              `line\u{2028}separator`,
	} {
		if got := chain.CleanRule(given); got != want {
			t.Errorf("%q: %q, want %q", given, got, want)
		}
		if again := chain.CleanRule(chain.CleanRule(given)); again != want {
			t.Errorf("%q: twice %q", given, again)
		}
	}
	for _, long := range []string{strings.Repeat("x", 1<<20), strings.Repeat("ü", 1<<10), strings.Repeat("\x01", 1<<10), strings.Repeat("\xff", 1<<10)} {
		got := chain.CleanRule(long)
		if len(got) > chain.MaxRule || !utf8.ValidString(got) || len(got) < chain.MaxRule/2 {
			t.Errorf("%d bytes are kept of %d: %q", len(got), len(long), got)
		}
	}
}
