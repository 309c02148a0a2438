package term

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestQuotedTextHasABarBeforeEachRow(t *testing.T) {
	t.Parallel()
	p := &Printer{}
	for sentence, c := range map[string]struct {
		width int
		lines []string
		want  []string
	}{
		"one row stays":                 {20, []string{"make deploy"}, []string{"make deploy"}},
		"several lines":                 {20, []string{"ls", "", "prompt"}, []string{"│ ls", "│ ", "│ prompt"}},
		"a line that pushes to the end": {10, []string{"ls        prompt"}, []string{"│ ls      ", "│   prompt"}},
		"both":                          {10, []string{"ls", "0123456789"}, []string{"│ ls", "│ 01234567", "│ 89"}},
		"any width":                     {0, []string{strings.Repeat("x", 50)}, []string{strings.Repeat("x", 50)}},
	} {
		var got []string
		for _, line := range Cells(Quoted(c.lines), Bold) {
			got = append(got, p.Rows(line, c.width)...)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", sentence, diff)
		}
	}
}
