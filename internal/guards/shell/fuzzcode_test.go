package shell_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/internal/guards/shell"
)

// FuzzCode checks the readers of Python and JavaScript with any text: nothing panics, the result is
// deterministic, and harmless code that ends with harmful code is doubted.
func FuzzCode(f *testing.F) {
	for _, code := range []string{
		"print(1)", "import json\nprint(json.load(open('a.json'))['b'])", "for x in open('a'): print(f'{x!r}')", "import pandas as pd\nprint(pd.read_csv('a.csv').head())", "'''", "#", "x = \\", "from pathlib import Path\nfor p in Path('.').rglob('*.py'): print(p.stem)",
		"console.log(1)", "const fs = require('fs'); console.log(fs.readFileSync('a', 'utf8'))", "/'/", "`${1}`", "[1].map(n => n * 2)", "//", "/*",
	} {
		f.Add(code)
	}
	f.Fuzz(func(t *testing.T, code string) {
		for program, harm := range map[string]string{"python3 -c": "\nimport os\nos.remove('x')", "node -e": "\n;require('child_process').spawnSync('x')", "ruby -e": "\nsystem 'x'", "R -e": "\nunlink('x')"} {
			script := shell.Parse(line(program, code), "/repo")
			if diff := cmp.Diff(script, shell.Parse(line(program, code), "/repo")); diff != "" {
				t.Errorf("%s: it is not the same twice:\n%s", program, diff)
			}
			if bad := shell.Parse(line(program, code+harm), "/repo"); !doubted(bad) {
				t.Errorf("%s %q: no doubt about %q", program, code, harm)
			}
			written := "cat > f <<'E_O_F'\n" + code + harm + "\nE_O_F\n" + strings.Fields(program)[0] + " f"
			if !strings.Contains(code, "E_O_F") && !strings.HasPrefix(program, "R") && !doubted(shell.Parse(written, "/repo")) {
				t.Errorf("%q: no doubt", written)
			}
		}
	})
}

// line returns a command line with code as a quoted argument.
func line(program, code string) string {
	return program + " '" + strings.ReplaceAll(code, "'", `'\''`) + "'"
}

func doubted(script shell.Script) bool {
	for _, c := range script.Commands {
		if len(c.Doubts) > 0 {
			return true
		}
	}
	return len(script.Doubts) > 0
}
