package term_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/internal/testkit"
)

// Messages are folded on a terminal only. They start at the beginning of a line.
func TestSay(t *testing.T) {
	t.Parallel()
	long := "worker.yaml:12:13: hooks[0].match: " + strings.Repeat("a word ", 30) + "end"
	indented := "        - " + strings.Repeat("a hook ", 30)
	var plain bytes.Buffer
	term.Say(&plain, long+"\nx")
	if plain.String() != long+"\nx\n" {
		t.Errorf("without a terminal it says %q", &plain)
	}
	plain.Reset()
	if term.Say(&plain, "a\x1bc\nb\u202e"); plain.String() != "ac\nb\n" {
		t.Errorf("of what acts on a terminal it says %q", &plain)
	}
	for columns, width := range map[uint16]int{80: 80, 100: 100, 40: 80} {
		screen := testkit.Terminal(t, columns)
		term.Say(screen.File, long+"\n"+indented+"\nlast")
		testkit.Eventually(t, "it is said", func() bool { return strings.HasSuffix(screen.String(), "\nlast\n") })
		if wide := screen.Wide(width); len(wide) > 0 {
			t.Errorf("%d columns: %q", columns, wide)
		}
		if got := screen.String(); !strings.HasPrefix(got, "worker.yaml:12:13: ") || !strings.Contains(got, "\n    a word") && !strings.Contains(got, "\n    word") {
			t.Errorf("%d columns:\n%s", columns, got)
		}
		if _, below, _ := strings.Cut(screen.String(), "- a hook"); !strings.Contains(below, "\n            ") {
			t.Errorf("%d columns: what is indented does not go on below itself:\n%s", columns, screen)
		}
	}
}
