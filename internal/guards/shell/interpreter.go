package shell

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// interpreter is a program that runs code in its own language.
type interpreter struct {
	code   string // options that take code
	stdin  bool   // without a file argument it runs its standard input
	name   string // of the language, for people
	values string // options that take a value that is neither code nor the file
}

var interpreters = map[string]interpreter{
	"python":    {"-c", true, "Python", "-W -X -Q --check-hash-based-pycs"},
	"pypy":      {"-c", true, "Python", "-W -X --jit"},
	"perl":      {"-e -E", true, "Perl", "-I -M -m"},
	"ruby":      {"-e", true, "Ruby", "-I -r -C -E -X --enable --disable --encoding --external-encoding --internal-encoding --dump --backtrace-limit --parser"},
	"node":      {"-e -p -pe --eval --print", true, "JavaScript", nodeValues},
	"nodejs":    {"-e -p -pe --eval --print", true, "JavaScript", nodeValues},
	"bun":       {"-e --eval -p -pe --print", false, "JavaScript", "-r -d -l --preload --cwd --env-file --define --loader --config --conditions --port --tsconfig-override --import --require"},
	"deno":      {"eval", false, "JavaScript", "-c -L --config --log-level --import-map --lock --cert --location --seed --ext"},
	"php":       {"-r -B -R -E --run --process-begin --process-code --process-end", true, "PHP", "-d -c -z -t -S --define --php-ini --zend-extension --docroot --server"},
	"lua":       {"-e", true, "Lua", "-l"},
	"luajit":    {"-e", true, "Lua", "-l -j"},
	"rscript":   {"-e", false, "R", ""},
	"osascript": {"-e", true, "AppleScript", "-l -s"},
	"tclsh":     {"", true, "Tcl", "-encoding"},
	"fish":      {"-c --command -C", true, "fish", "-d -D -o -f -p --debug --debug-output --features --profile --profile-startup"},
	"julia":     {"-e -E --eval", true, "Julia", "-J -H -C -t -p -L --sysimage --home --cpu-target --threads --procs --load --machine-file --gcthreads --heap-size-hint"},
	"r":         {"-e", true, "R", "-g -d --gui --debugger --encoding"},
	"octave":    {"--eval", true, "Octave", "-p --path --exec-path --image-path --info-file --info-program --texi-macros-file"},
	"raku":      {"-e", true, "Raku", "-I -M"},
	"ghc":       {"-e", false, "Haskell", "-package"},
	"ghci":      {"-e", true, "Haskell", "-package"},
	"scala":     {"-e", true, "Scala", "-cp -classpath --class-path -i"},
	"groovy":    {"-e", true, "Groovy", "-cp -classpath --classpath -c --encoding"},
	"elixir":    {"-e --eval --rpc-eval", true, "Elixir", "-r -pa -pz --app --erl --cookie --name --sname --vm-args"},
	"iex":       {"-e --eval --rpc-eval", true, "Elixir", "-r -pa -pz --app --erl --cookie --name --sname --vm-args"},
	"clojure":   {"-e --eval", true, "Clojure", "-Sdeps -i --init"},
	"clj":       {"-e --eval", true, "Clojure", "-Sdeps -i --init"},
	"sbcl":      {"--eval", true, "Lisp", "--core --dynamic-space-size --control-stack-size --userinit --sysinit --load"},
	"racket":    {"-e --eval", true, "Racket", "-l -p -t -f -k -I -X -S -G -N -W"},
	"guile":     {"-c", true, "Guile", "-L -C -x -l -e"},
	"ocaml":     {"-e", true, "OCaml", "-I -init -open -w"},
	"swift":     {"-e", true, "Swift", "-I -L -F -D -target -sdk -module-name -Xcc -Xfrontend -framework"},
	"ts-node":   {"-e -p --eval --print", true, "TypeScript", "-r -P -C -I -D -O --require --project --compiler --ignore --ignore-diagnostics --compiler-options --cwd"},
	"tsx":       {"-e -p --eval --print", true, "TypeScript", nodeValues + " --tsconfig"},
	"ipython":   {"-c", true, "IPython", "--profile --ext"}, // its code may contain shell commands
	"irb":       {"-e", true, "Ruby", "-r -I -E --prompt --context-mode --back-trace-limit"},
	"jshell":    {"", true, "Java", ""},
	"gnuplot":   {"-e", true, "gnuplot", "-geometry"},
	"elvish":    {"-c", true, "elvish", ""},
	"expect":    {"-c", true, "Expect", ""},
	"nu":        {"-c --commands -e --execute", true, "Nushell", "-I -m -t --config --env-config --plugins --plugin-config --include-path --table-mode --log-level --threads"},
	"xonsh":     {"-c", true, "xonsh", "-D --rc --shell-type"},
	"csh":       {"-c", true, "csh", ""},
	"tcsh":      {"-c", true, "csh", ""},
	"go":        {"", false, "Go", "-C -exec -tags -mod -modfile -ldflags -gcflags -asmflags -overlay -pgo -p -o"},
	"java":      {"", false, "Java", "-cp -classpath --class-path -p --module-path --add-modules --add-opens --add-exports --add-reads --source"},
	"dart":      {"", false, "Dart", "--packages"},
	"dotnet":    {"", false, ".NET", ""},
}

// nodeValues are the options of node that take a value.
const nodeValues = "-r -C --require --import --loader --experimental-loader --conditions --input-type --title --env-file --env-file-if-exists --openssl-config --icu-data-dir" +
	" --inspect-port --redirect-warnings --disable-warning --unhandled-rejections --dns-result-order --diagnostic-dir --max-http-header-size --stack-trace-limit --experimental-default-type" +
	" --experimental-config-file --trace-event-categories --trace-event-file-pattern --tls-cipher-list --tls-keylog --test-concurrency --test-isolation --test-name-pattern --test-skip-pattern" +
	" --test-reporter --test-reporter-destination --test-shard --test-timeout --watch-path --cpu-prof-dir --cpu-prof-name --cpu-prof-interval --heap-prof-dir --heap-prof-name --heap-prof-interval" +
	" --heapsnapshot-signal --heapsnapshot-near-heap-limit --report-dir --report-directory --report-filename --report-signal --secure-heap --secure-heap-min --localstorage-file" +
	" --allow-fs-read --allow-fs-write --disable-proto --v8-pool-size --use-largepages"

// interpreter checks the code that an interpreter is given in its arguments or on standard input.
func (s source) interpreter(c *Command, of interpreter, ctx context) {
	code, file, values := of.given(c.Args())
	for _, v := range append(values, s.modules(of, c.Args())...) {
		for _, end := range moduleEnds {
			s.runsMade(c, Word{Text: v.Text + end, Known: v.Known})
		}
	}
	if of.name == "Go" && len(file) > 0 && c.Args()[0].Text == "run" {
		s.goFiles(c, file[1:])
	}
	if of.name == "Python" && slices.ContainsFunc(c.Args(), func(w Word) bool { return warningModule.MatchString(w.Text) }) {
		c.doubt("python loads a module that a filter of warnings names")
	}
	if at := slices.IndexFunc(c.Args(), func(w Word) bool { return w.Text == "IPython" }); at >= 0 && slices.ContainsFunc(c.Args()[at:], func(w Word) bool { return strings.HasPrefix(w.Text, "-c") }) {
		c.doubt("code in IPython is not read here")
	}
	if ctx.feed != nil && slices.ContainsFunc(c.Args(), func(w Word) bool { return interactive[w.Text] }) {
		c.doubt(c.Name() + " runs what it reads")
	}
	reads := of.stdin && len(file) == 0 || len(file) > 0 && (file[0].Text == "-" || isDescriptor(file[0].Text))
	text, known := "", false
	switch {
	case code:
		text, known = of.codeOf(c.Args())
	case reads && ctx.feed != nil && ctx.feed.known && len(file) < 2:
		text, known = ctx.feed.text, true
	}
	if known && s.readsCode(c, text, of.name, false) {
		return
	}
	switch {
	case code:
		c.Runs = append(c.Runs, runsOf(c.Args())...)
	case reads && ctx.feed != nil:
		c.Runs = append(c.Runs, ctx.feed.from...)
	case !reads && len(file) > 0:
		s.runsFile(c, file[0])
		return
	case reads && !endsAtOnce(of.name, c.Args()):
		c.doubt(c.Name() + runsTyped)
		return
	default:
		return
	}
	c.doubt("code in " + of.name + " is not read here")
}

// goFiles checks the files that go run compiles: those that it names, and all Go files that the
// line downloads.
func (s source) goFiles(c *Command, named []Word) {
	for _, w := range named {
		if strings.HasSuffix(w.Text, ".go") {
			s.runsMade(c, w)
		}
	}
	for name, by := range s.files.by {
		if strings.HasSuffix(name, ".go") && slices.ContainsFunc(by, func(maker string) bool { return slices.Contains(makers, maker) }) {
			s.runsMade(c, Word{Text: name, Known: true})
		}
	}
}

// runsTyped ends the doubt about a program that runs what is typed into it. Codex can type into a
// running program without a call that hooks see.
const runsTyped = " runs what is typed into it"

// endsAtOnce reports whether an interpreter's first option makes it print something, or run files
// or a server, so that it reads no code.
func endsAtOnce(language string, args []Word) bool {
	if len(args) == 0 {
		return false
	}
	option := args[0].Text
	if language == "Clojure" && clojureTask.MatchString(option) {
		return true
	}
	return slices.Contains(printOptions, option) || slices.Contains(otherModes[language], option)
}

// clojureTask matches a function or the tests of a project, for which Clojure starts no console.
var clojureTask = regexp.MustCompile(`^(-[XT]:[\w:./-]+|-M(:[\w-]+)*:[\w-]*test[\w-]*)$`)

var (
	printOptions = []string{"--version", "-V", "-VV", "-v", "--help", "-h", "-help", "-version", "--v8-options"}
	otherModes   = map[string][]string{ // by language
		"JavaScript": {"--test"},
		"PHP":        {"-S", "--server", "-m", "--modules", "-i", "--info", "--ini", "--rf", "--rc", "--re", "--ri"},
	}
)

// warningModule matches a warning filter whose category is in a module.
var warningModule = regexp.MustCompile(`^(-W)?\w+:[^:]*:\w+\.\w`)

// moduleEnds are suffixes that complete a module's name to the name of its file.
var moduleEnds = []string{"", ".py", "/__init__.py", "/__main__.py", ".js", ".mjs", ".cjs", ".ts", ".rb", ".php"}

// interactive are options and modules that make an interpreter run its standard input in addition.
var interactive = map[string]bool{"-i": true, "code": true, "asyncio": true, "pdb": true, "IPython": true, "-S": true}

// modules returns the modules that python -m runs, its arguments, and the modules that Python loads
// by itself.
func (s source) modules(of interpreter, args []Word) []Word {
	if of.name != "Python" {
		return loaded(args)
	}
	all := []Word{{Text: "sitecustomize", Known: true}, {Text: "usercustomize", Known: true}}
	if at := slices.IndexFunc(args, func(w Word) bool { return w.Text == "-m" }); at >= 0 {
		all = append(all, args[at+1:]...)
	}
	return all
}

// loaded returns the files that options of Ruby and PHP load before the code.
func loaded(args []Word) (all []Word) {
	for _, w := range args {
		name, joined := strings.CutPrefix(w.Text, "-r")
		_, file, named := strings.Cut(w.Text, "_file=")
		switch {
		case joined && name != "":
			all = append(all, Word{Text: name, Known: w.Known})
		case named:
			all = append(all, Word{Text: file, Known: w.Known})
		}
	}
	return all
}

// readsCode adds what code uses to the command. It returns false if that cannot be determined.
func (s source) readsCode(c *Command, text, language string, console bool) bool {
	reach, ok := readCode(text, language, console)
	return ok && s.reaches(c, reach)
}

// given returns whether an interpreter is given code; otherwise its file and the file's arguments.
// values are those of the options before them.
func (of interpreter) given(args []Word) (code bool, file, values []Word) {
	for a := range interpreterOptions[of].In(args) {
		name, value, joined := strings.Cut(a.Text, "=")
		switch {
		case of.takesCode(a):
			return true, nil, values
		case a.Text == "--":
			return false, a.Rest, values
		case strings.HasPrefix(name, "--env-file"): // contains no code
		case a.Takes && !a.Joined:
			values = append(values, a.Value)
		case a.Text == "-" || a.Text != "" && a.Name == "" && (of.stdin || a.Text != "run"): // run is a verb of go, deno and the like
			return false, a.From, values
		case joined:
			values = append(values, Word{Text: value, Known: true})
		}
	}
	return false, nil, values
}

// interpreterOptions are the options that take a value, including code. Single letters may be
// combined, as in -ne, except for Clojure: -M:alias
var interpreterOptions = func() map[interpreter]Options {
	all := map[interpreter]Options{}
	for _, of := range interpreters {
		o := Options{Flags: letters, Any: of.name != "Clojure"}
		for word := range strings.FieldsSeq(of.code + " " + of.values) {
			switch {
			case len(word) == len("-e"):
				o.Values += word[1:]
			case word[0] == '-':
				o.Long += word + "= "
			}
		}
		all[of] = o
	}
	return all
}()

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// takesCode reports whether an option or a verb makes the interpreter run code.
func (of interpreter) takesCode(a Arg) bool {
	return slices.Contains(strings.Fields(of.code), cmp.Or(a.Name, a.Text))
}

func runsOf(words []Word) (all []string) {
	for _, w := range words {
		all = append(all, w.Runs...)
	}
	return all
}
