package shell

import (
	"slices"
	"strings"
)

// measured are options of hyperfine, which runs each of its other words as a line, and valued
// those with a value that it does not run.
var (
	measuredFlags  = strings.Fields("-i --ignore-failure -N --show-output -h --help -V --version")
	measuredValues = strings.Fields("-w --warmup -m --min-runs -M --max-runs -r --runs -n --command-name --style --sort -u --time-unit --export-json --export-csv --export-markdown --export-asciidoc --export-orgmode")
	measuredLines  = strings.Fields("-s --setup -p --prepare -C --conclude -c --cleanup --reference")
)

// measures reads the lines that hyperfine runs.
func (s source) measures(c *Command, ctx context) {
	args := c.Args()
	for i := 0; i < len(args); i++ {
		name, value, joined := strings.Cut(args[i].Text, "=")
		switch w := args[i]; {
		case !strings.HasPrefix(name, "-") || !w.Known:
			s.joined(c, args[i:i+1], ctx)
		case slices.Contains(measuredFlags, name):
		case slices.Contains(measuredValues, name):
			if !joined {
				i++
			}
		case slices.Contains(measuredLines, name) && joined:
			w.Text = value
			s.joined(c, []Word{w}, ctx)
		case slices.Contains(measuredLines, name) && i+1 < len(args):
			i++
			s.joined(c, args[i:i+1], ctx)
		default:
			c.doubt("the options of hyperfine are not known: " + clip(w.Text))
		}
	}
}
