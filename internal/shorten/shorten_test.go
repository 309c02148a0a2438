package shorten_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hookrouter/hookrouter/internal/shorten"
)

func ExampleBytes() {
	fmt.Println(shorten.Bytes("naïve", 3, "...")) // ï has two bytes
	fmt.Println(shorten.Runes("naïve", 3, "..."))
	// Output:
	// na...
	// naï...
}

func TestBytes(t *testing.T) {
	for name, tt := range map[string]struct {
		text  string
		limit int
		want  string
	}{
		"an empty text":              {"", 3, ""},
		"as long as the limit":       {"abc", 3, "abc"},
		"one byte too long":          {"abcd", 3, "abc…"},
		"a character at the limit":   {"abé", 4, "abé"},
		"a character over the limit": {"abé", 3, "ab…"},
		"a long character":           {"a🎉b", 4, "a…"},
		"not UTF-8, and short":       {"a\xff", 3, "a\xff"},
		"not UTF-8, and cut":         {"a\xffbc", 3, "ab…"},
		"nothing may stay":           {"é", 0, "…"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := shorten.Bytes(tt.text, tt.limit, "…"); got != tt.want {
				t.Errorf("Bytes(%q, %d) = %q; want %q", tt.text, tt.limit, got, tt.want)
			}
		})
	}
}

func TestRunes(t *testing.T) {
	for name, tt := range map[string]struct {
		text  string
		limit int
		want  string
	}{
		"an empty text":         {"", 3, ""},
		"as long as the limit":  {"äöü", 3, "äöü"},
		"one character too far": {"äöüß", 3, "äöü…"},
		"long characters":       {"🎉🎉🎉", 2, "🎉🎉…"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := shorten.Runes(tt.text, tt.limit, "…"); got != tt.want {
				t.Errorf("Runes(%q, %d) = %q; want %q", tt.text, tt.limit, got, tt.want)
			}
		})
	}
}

// FuzzBytes checks that a cut keeps its limit, and makes no invalid text.
func FuzzBytes(f *testing.F) {
	f.Add("naïve", uint8(3))
	f.Add("🎉🎉", uint8(5))
	f.Fuzz(func(t *testing.T, text string, limit uint8) {
		got := shorten.Bytes(text, int(limit), "")
		if len(got) > int(limit) || utf8.ValidString(text) && (!utf8.ValidString(got) || !strings.HasPrefix(text, got)) {
			t.Errorf("Bytes(%q, %d) = %q", text, limit, got)
		}
	})
}
