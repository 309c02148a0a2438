package code_test

import (
	"strings"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/guards/code"
)

// fastest returns the shortest time to analyze code of a length.
func fastest(c [2]string, length int) time.Duration {
	text, least := strings.Repeat(c[1], length/len(c[1])), time.Hour
	for range 3 {
		began := time.Now()
		code.Read(text, c[0], false)
		least = min(least, time.Since(began))
	}
	return least
}

// TestLongCode checks that the time to analyze code is linear in its length, whatever it repeats.
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
		for try := 1; ; try++ { // the machine may be busy during one try
			long, short := fastest(c, code.MaxCode), fastest(c, code.MaxCode/4)
			if long <= 13*short || long <= 50*time.Millisecond { // a factor of 4 is linear, 16 is quadratic
				break
			}
			if try == 3 {
				t.Errorf("%s, %q again and again: %v, and a quarter of it %v", c[0], c[1], long, short)
				break
			}
		}
	}
}
