package shell

import (
	"regexp"
	"slices"
	"strings"
)

// lines are programs that run each argument as a command line.
var lines = map[string]lineRunner{
	"hyperfine": {
		options: Options{Long: "-i --ignore-failure -N --show-output -h --help -V --version -w= --warmup= -m= --min-runs= -M= --max-runs= -r= --runs= -n= --command-name= --style= --sort= -u= --time-unit= --export-json= --export-csv= --export-markdown= --export-asciidoc= --export-orgmode= -s= --setup= -p= --prepare= -C= --conclude= -c= --cleanup= --reference="},
		lines:   strings.Fields("-s --setup -p --prepare -C --conclude -c --cleanup --reference"),
	},
	"concurrently":          {options: Options{Long: "-k --kill-others --kill-others-on-fail -r --raw -g --group --timings -i --handle-input --no-color -h --help -v -V --version -n= --names= -c= --prefix-colors= -p= --prefix= -s= --success= -m= --max-processes= -l= --prefix-length= -t= --timestamp-format= --restart-tries= --restart-after= --hide= --name-separator="}},
	"start-server-and-test": startTest, "start-test": startTest, "server-test": startTest,
}

// lineRunner is a program that runs each argument, and the values of some options, as a command
// line. If waits is set, addresses are what it waits for, and single words are scripts of
// package.json.
type lineRunner struct {
	options Options
	lines   []string
	waits   bool
}

var (
	startTest = lineRunner{options: Options{Long: "--expect="}, waits: true}
	awaited   = regexp.MustCompile(`^(https?(-get)?|tcp)://?[\w.:/?=%-]+$|^:?\d+(/[\w./-]*)?$|^(tcp:)?[\w.-]+:\d+(/[\w./-]*)?$`)
	oneScript = regexp.MustCompile(`^[\w:-]+$`)
)

// packageRun matches the shorthand of concurrently for scripts of package.json: npm:dev, npm:dev:*.
var packageRun = regexp.MustCompile(`^(npm|pnpm|yarn|bun):([\w:*-]+)$`)

// runsLines analyzes the command lines that a program runs.
func (s source) runsLines(c *Command, name string, ctx context) {
	program := lines[name]
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
	for a := range program.options.In(c.Args()) {
		switch {
		case a.Name == "" || !a.Known:
			run(a.Word)
		case !a.Listed:
			c.doubt("the options of " + name + " are not known: " + clip(a.Text))
		case slices.Contains(program.lines, a.Name):
			run(a.Value)
		}
	}
}
