package code_test

import (
	"strings"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/guards/code"
)

// TestLongCode: the longest code that is read takes little time, whatever it repeats.
func TestLongCode(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{
		{"Python", "a='b'\n"},
		{"Python", "f(a)\n"},
		{"Python", "f('a.b')\n"},
		{"Python", "for f in glob.glob('a'): print(f)\n"},
		{"Python", "a.b"},
		{"Python", "f'{a}'\n"},
		{"Python", "("},
		{"JavaScript", "const a='b';"},
		{"JavaScript", "a[b]+1;"},
		{"JavaScript", "f({[a]:1},"},
		{"JavaScript", "`${a}`;"},
		{"PHP", "array_map(fn($x)=>1,"},
		{"Ruby", "Dir[\"a\"].each{|f|1};"},
		{"R", "sapply(a,"},
		{"Go", "f(\"a.b\")\n"},
	} {
		text := strings.Repeat(c[1], code.MaxCode/len(c[1]))
		began := time.Now()
		code.Read(text, c[0], false)
		if took := time.Since(began); took > 500*time.Millisecond { // a few at most, and slack for a busy machine
			t.Errorf("%s, %q again and again: %v", c[0], c[1], took)
		}
	}
}
