package textdiff_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/internal/textdiff"
)

// text formats a diff, with changed words in braces.
func text(d textdiff.Diff) string {
	var b strings.Builder
	for _, h := range d.Hunks {
		fmt.Fprintf(&b, "@ %d %d\n", h.Old, h.New)
		for _, l := range h.Lines {
			b.WriteString(string(l.Op))
			for _, p := range l.Parts {
				if p.Changed {
					p.Text = "{" + p.Text + "}"
				}
				b.WriteString(p.Text)
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func TestWhatChanged(t *testing.T) {
	for name, c := range map[string]struct{ before, after, want string }{
		"nothing":              {"a\nb\n", "a\nb\n", ""},
		"a word":               {"the quick brown fox\n", "the quick red fox\n", "@ 1 1\n-the quick {brown} fox\n+the quick {red} fox\n"},
		"part of a word":       {"call(timeout)\n", "call(timeouts)\n", "@ 1 1\n-call(timeout)\n+call({timeouts})\n"},
		"a line more":          {"a\nc\n", "a\nb\nc\n", "@ 1 1\n a\n+b\n c\n"},
		"no end of line":       {"a", "b", "@ 1 1\n-a\n+b\n"},
		"lines of Windows":     {"a\r\nb\r\n", "a\r\nc\r\n", "@ 1 1\n a\n-b\n+c\n"},
		"what is new":          {"", "x\ny\n", "@ 1 1\n+x\n+y\n"},
		"what is gone":         {"x\n", "", "@ 1 1\n-x\n"},
		"another line":         {"alpha beta\n", "gamma delta\n", "@ 1 1\n-alpha beta\n+gamma delta\n"},
		"far apart":            {"1\n2\n3\n4\n5\n6\n7\n8\n9\n", "x\n2\n3\n4\n5\n6\n7\n8\ny\n", "@ 1 1\n-1\n+x\n 2\n 3\n 4\n@ 6 6\n 6\n 7\n 8\n-9\n+y\n"},
		"letters beyond ASCII": {"größe = 1\n", "größe = 2\n", "@ 1 1\n-größe = {1}\n+größe = {2}\n"},
	} {
		if diff := cmp.Diff(c.want, text(textdiff.Of(c.before, c.after))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestHostileTextsAreBounded(t *testing.T) {
	for name, c := range map[string][2]string{
		"large":      {strings.Repeat("a\n", 300_000), strings.Repeat("b\n", 300_000)},
		"long lines": {strings.Repeat("a", 200_000), strings.Repeat("ab", 100_000)},
		"no UTF-8":   {strings.Repeat("\xff\n", 9000), strings.Repeat("\xfe\n", 9000)},
		"all differ": {numbers(0, 20_000), numbers(20_000, 40_000)},
	} {
		d := textdiff.Of(c[0], c[1])
		shown, changed := 0, 0
		for _, h := range d.Hunks {
			shown += len(h.Lines)
			for _, l := range h.Lines {
				if l.Op != textdiff.Same {
					changed++
				}
			}
		}
		if shown > textdiff.MaxLines || changed+d.Hidden != d.Added+d.Removed {
			t.Errorf("%s: %d lines are shown, %d changed, %d are hidden of %d and %d", name, shown, changed, d.Hidden, d.Added, d.Removed)
		}
	}
}

func numbers(from, to int) string {
	var b strings.Builder
	for i := from; i < to; i++ {
		fmt.Fprintln(&b, i)
	}
	return b.String()
}

func FuzzOf(f *testing.F) {
	f.Add("a\nb\n", "a\nc\n")
	f.Add("\xff", "\r\n")
	f.Fuzz(func(t *testing.T, before, after string) {
		d := textdiff.Of(before, after)
		if d.Added+d.Removed == 0 && strings.ReplaceAll(before, "\r", "") != strings.ReplaceAll(after, "\r", "") && strings.TrimRight(before, "\r\n") != strings.TrimRight(after, "\r\n") {
			t.Errorf("%q and %q differ, and nothing is shown", before, after)
		}
	})
}
