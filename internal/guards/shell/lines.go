package shell

import (
	"regexp"
	"slices"
	"strings"
)

// lines are programs that run each of their words as a line, with their options: those without a
// value, with one, and with one that is a line, too.
var lines = map[string]lineRunner{
	"hyperfine": {
		strings.Fields("-i --ignore-failure -N --show-output -h --help -V --version"),
		strings.Fields("-w --warmup -m --min-runs -M --max-runs -r --runs -n --command-name --style --sort -u --time-unit --export-json --export-csv --export-markdown --export-asciidoc --export-orgmode"),
		strings.Fields("-s --setup -p --prepare -C --conclude -c --cleanup --reference"), false,
	},
	"concurrently": {
		strings.Fields("-k --kill-others --kill-others-on-fail -r --raw -g --group --timings -i --handle-input --no-color -h --help -v -V --version"),
		strings.Fields("-n --names -c --prefix-colors -p --prefix -s --success -m --max-processes -l --prefix-length -t --timestamp-format --restart-tries --restart-after --hide --name-separator"),
		nil, false,
	},
	"start-server-and-test": startTest, "start-test": startTest, "server-test": startTest,
}

// lineRunner is a program that runs each of its words as a line. If it waits, words that are addresses are
// what it waits for, and single words are scripts of package.json.
type lineRunner struct {
	flags, values, lines []string
	waits                bool
}

var (
	startTest = lineRunner{nil, strings.Fields("--expect"), nil, true}
	awaited   = regexp.MustCompile(`^(https?(-get)?|tcp)://?[\w.:/?=%-]+$|^:?\d+(/[\w./-]*)?$|^(tcp:)?[\w.-]+:\d+(/[\w./-]*)?$`)
	oneScript = regexp.MustCompile(`^[\w:-]+$`)
)

// packageRun is a script of package.json as concurrently names it: npm:dev, and npm:dev:*.
var packageRun = regexp.MustCompile(`^(npm|pnpm|yarn|bun):([\w:*-]+)$`)

// runsLines reads the lines that a program runs.
func (s source) runsLines(c *Command, name string, ctx context) {
	program, args := lines[name], c.Args()
	run := func(w Word) {
		switch {
		case program.waits && w.Known && awaited.MatchString(w.Text):
			return
		case program.waits && oneScript.MatchString(w.Text):
			w.Text = "npm run " + w.Text
		}
		w.Text = packageRun.ReplaceAllString(w.Text, "$1 run $2")
		s.joined(c, []Word{w}, ctx)
	}
	for i := 0; i < len(args); i++ {
		option, value, joined := strings.Cut(args[i].Text, "=")
		switch w := args[i]; {
		case !strings.HasPrefix(option, "-") || !w.Known:
			run(w)
		case slices.Contains(program.flags, option):
		case slices.Contains(program.values, option):
			if !joined {
				i++
			}
		case slices.Contains(program.lines, option) && joined:
			w.Text = value
			run(w)
		case slices.Contains(program.lines, option) && i+1 < len(args):
			i++
			run(args[i])
		default:
			c.doubt("the options of " + name + " are not known: " + clip(w.Text))
		}
	}
}
