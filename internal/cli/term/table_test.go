package term_test

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/internal/cli/term"
)

const session = "3f2504e0-4f89-41d3-9a0c-0305e82c3301"

func table(p func(*term.Printer), rows ...[]term.Cell) string {
	var b strings.Builder
	out := term.NewPrinter(&b, false, false, false)
	p(out)
	out.Table(rows)
	return b.String()
}

func TestATableFindsRoom(t *testing.T) {
	heads := term.Heads("ID", "SESSION", "HOOK", "PROMPT")
	long := "Deploy the release candidate to all machines of the cluster in Frankfurt?"
	for sentence, c := range map[string]struct {
		rows [][]term.Cell
		want string
	}{
		"as it is": {
			[][]term.Cell{heads, term.Row("a", "s1", "guard", "Deploy?")},
			`
ID  SESSION  HOOK   PROMPT
a   s1       guard  Deploy?
`,
		},
		"its last column folded": {
			[][]term.Cell{heads, term.Row("a", "s1", "guard", long), term.Row("b", "s1", "guard", "Deploy?")},
			`
ID  SESSION  HOOK   PROMPT
a   s1       guard  Deploy the release candidate to all machines of the cluster
                    in Frankfurt?
b   s1       guard  Deploy?
`,
		},
		"the widest below the row": {
			[][]term.Cell{heads, term.Row("aybabtu2aybabtu2aybabtu2ay", session, "guard", long), term.Row("b", "-", "guard", "")},
			`
ID                          SESSION                               HOOK
aybabtu2aybabtu2aybabtu2ay  3f2504e0-4f89-41d3-9a0c-0305e82c3301  guard
    prompt: Deploy the release candidate to all machines of the cluster in
      Frankfurt?
b                           -                                     guard
`,
		},
		"another one below the row, where that leaves enough for the last": {
			[][]term.Cell{heads, term.Row("aybabtu2aybabtu2aybabtu2ay", session, "guard-of-everything", long), term.Row("b", "-", "guard", "")},
			`
ID                          HOOK                 PROMPT
aybabtu2aybabtu2aybabtu2ay  guard-of-everything  Deploy the release candidate to
                                                 all machines of the cluster in
                                                 Frankfurt?
    session: 3f2504e0-4f89-41d3-9a0c-0305e82c3301
b                           guard
`,
		},
		"the first column cut where nothing else makes room": {
			[][]term.Cell{term.Heads("SPAN", "     "), term.Row(strings.Repeat("a", 50)+strings.Repeat("z", 50), "#####")},
			"SPAN" + strings.Repeat(" ", 76) + "\n" + strings.Repeat("a", 36) + "…" + strings.Repeat("z", 36) + `  #####
`,
		},
		"one cell above": {
			[][]term.Cell{term.Row(session), term.Row("hook", strings.Repeat("ab", 32)), term.Row("reason", "no")},
			`
` + session + `
hook    ` + strings.Repeat("ab", 32) + `
reason  no
`,
		},
		"a word that no line has room for": {
			[][]term.Cell{term.Row("path", "/tmp/"+strings.Repeat("x", 90)+" end")},
			`
path  /tmp/` + strings.Repeat("x", 69) + `
      ` + strings.Repeat("x", 21) + ` end
`,
		},
		"what is to be copied": {
			[][]term.Cell{term.Row("pin", "size 3"), {{}, {Text: "/tmp/" + strings.Repeat("x", 90) + "/a file.json", Whole: true}}},
			`
pin  size 3
     /tmp/` + strings.Repeat("x", 90) + `/a file.json
`,
		},
		"wide characters": {
			[][]term.Cell{term.Row("日本語", "x"), term.Row("abc", strings.Repeat("日", 38))},
			`
日本語  x
abc     ` + strings.Repeat("日", 36) + `
        日日
`,
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			got := table(func(*term.Printer) {}, c.rows...)
			if diff := cmp.Diff(strings.TrimPrefix(c.want, "\n"), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	wide := table(func(p *term.Printer) { p.Width = 0 }, heads, term.Row("aybabtu2aybabtu2aybabtu2ay", session, "guard-of-everything", long))
	if strings.Count(wide, "\n") != 2 || !strings.Contains(wide, "guard-of-everything  "+long) {
		t.Errorf("without a width:\n%s", wide)
	}
}

func TestALineIsFoldedWithItsColors(t *testing.T) {
	var b strings.Builder
	out := term.NewPrinter(&b, false, true, true)
	out.Fold(out.Paint(term.Red, "FAILED OPEN") + "  " + strings.Repeat("word ", 20) + session)
	want := "\x1b[31mFAILED OPEN\x1b[0m  " + strings.TrimSpace(strings.Repeat("word ", 13)) + "\n    " + strings.Repeat("word ", 7) + session + "\n"
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func FuzzTablesKeepToTheirWidth(f *testing.F) {
	f.Add("id", "some words of a text", "日本語 in "+session, strings.Repeat("x", 200))
	f.Add("", " ", "-", "\x1b[31m\u202e")
	f.Fuzz(func(t *testing.T, a, b, c, d string) {
		got := table(func(*term.Printer) {}, term.Heads("A", "B", "C", "D"), term.Row(a, b, c, d), term.Row(d, c, b, a))
		for line := range strings.Lines(got) {
			if w := ansi.StringWidth(line); w > term.Columns {
				t.Errorf("%d columns: %q", w, line)
			}
		}
	})
}
