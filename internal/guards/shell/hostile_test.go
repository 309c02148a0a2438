package shell_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/guards/shell"
	"github.com/hookrouter/hookrouter/internal/testkit"
)

// TestHostileLinesAreBounded parses lines that are designed to be slow or deeply nested. It fails
// by the timeout of the test.
func TestHostileLinesAreBounded(t *testing.T) {
	for _, line := range []string{
		strings.Repeat("$(", 30000),
		strings.Repeat("\"$(", 150) + strings.Repeat(")\"", 150),
		strings.Repeat("\")\"$(", 8000) + strings.Repeat(")", 8000),
		strings.Repeat("\"}\"${a:-", 6000) + strings.Repeat("}", 6000),
		strings.Repeat("`", 60000),
		strings.Repeat("if ", 20000) + "a",
		strings.Repeat("while a; do ", 3000) + strings.Repeat(";done ", 3000),
		strings.Repeat("a|", testkit.Volume(t, 8000, 30000, 30000)) + "a", // the slowest one
		strings.Repeat("a && ", 12000) + "a",
		strings.Repeat("{a,b}", 12000),
		strings.Repeat("{1..9}", 15) + "{1..1000000000}",
		strings.Repeat("a() ", 15000) + "{ x; }",
		strings.Repeat("x(){ x|", 100) + "x" + strings.Repeat(";}", 100),
		strings.Repeat("sudo ", 10000) + "rm",
		strings.Repeat("cd a; ", 10000),
		strings.Repeat("find . -exec ", 4000),
		"find " + strings.Repeat("a ", 10000) + "-name b -exec c " + strings.Repeat("{} ", 10000) + "\\;",
		"find {a,b,c,d,e,f,g,h} -name b -exec c " + strings.Repeat("{} ", 10000) + "\\;",
		"echo $((" + strings.Repeat("a?1:", 15000) + "1))",
		"[[ " + strings.Repeat("! ", 30000) + "a ]]",
		strings.Repeat("a <<E\n", 10000),
		"eval " + strings.Repeat("eval ", 10000) + "a",
		"tee " + strings.Repeat("a b ", 8000) + strings.Repeat("; mv a c; ./b", 2000),
		"tee a; mv a" + strings.Repeat(" b", 20000) + strings.Repeat("; ./b", 2000),
		"alias a='" + strings.Repeat("b ", 15000) + "'" + strings.Repeat("; a", 10000),
		"alias a='b " + strings.Repeat("b ", 100) + "' b='a " + strings.Repeat("a ", 100) + "'" + strings.Repeat("; a", 20000),
		strings.Repeat("a > >(", 1000) + strings.Repeat(")", 1000),
		strings.Repeat("a > >(b) ", 5000),
		"cat > a <<'E'\n" + strings.Repeat("bash a;", 8000) + "\nE\nbash a",
		"git clone a b; " + strings.Repeat("git clone c d/e; b/f; ", 1500),
		"ls *.a" + strings.Repeat(" | head", 5000) + " | xargs cat",
		strings.Repeat("a=1; ", 12000),
		numbered("a%d=b", ";", 6000),
		numbered("a%d=b", "&&", 6000) + `; c "$a1"`,
		"node -e '" + strings.Repeat("`${a}`", 600) + "'",
		strings.Repeat("a ", 1<<20),
	} {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			script := shell.Parse(line, "/")
			for _, c := range script.Commands {
				if len(c.Words) > shell.MaxLine/2 {
					t.Errorf("%.20q: a command of %d words", line, len(c.Words))
				}
			}
			if len(script.Commands) > shell.MaxCommands {
				t.Errorf("%.20q: %d commands", line, len(script.Commands))
			}
			if len(line) > shell.MaxLine && len(script.Doubts) == 0 {
				t.Errorf("%.20q has %d bytes, and no doubt", line, len(line))
			}
		})
	}
}

// numbered returns a text repeated n times with its number, separated by between.
func numbered(format, between string, n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf(format, i)
	}
	return strings.Join(all, between)
}
