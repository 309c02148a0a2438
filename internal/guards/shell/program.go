package shell

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

var (
	cmdlet       = regexp.MustCompile(`^[A-Za-z]+-[A-Z][A-Za-z]+$`)
	versioned    = regexp.MustCompile(`[0-9.]+$`)
	sedRuns      = regexp.MustCompile(`(^|[;{}\n,])\s*[0-9$][0-9,~+$]*\s*!?\s*e|(^|[;{}\n0-9$/!])\s*e(\s|$|;)|[^A-Za-z\s][gpiImM0-9]*e[gpiImM0-9]*\s*($|[;}\n])`)
	scriptOption = regexp.MustCompile(`^(-[nErsuz]*e|--(expression|source)=)`)
	sedBegins    = regexp.MustCompile(`^\s*!?\s*e`)
	tarCluster   = regexp.MustCompile(`^(-?[a-zA-Z]+[IF]|[IF])[a-zA-Z]*$`)
)

// program checks whether a program is given code.
func (s source) program(c *Command, name string, ctx context) {
	args := c.Args()
	read := strings.Contains(c.Words[0].Text, "/") && s.reads(c, c.Words[0], "")
	if !read {
		s.runsMade(c, c.Words[0])
	}
	c.Built = c.Built || read || slices.Contains(s.files.built, c.Words[0].Text)
	if strings.Contains(c.Words[0].Text, "/") {
		s.runsUnpacked(c, c.Words[0])
	}
	if cmdlet.MatchString(c.Words[0].Text) && !strings.ContainsAny(c.Words[0].Text, "./") && name != c.Words[0].Text {
		c.doubt("PowerShell is not read here: " + clip(c.Words[0].Text))
	}
	language, known := interpreters[name]
	if !known {
		language, known = interpreters[versioned.ReplaceAllString(name, "")]
	}
	switch {
	case known:
		s.interpreter(c, language, ctx)
		s.runsCode(c, ctx)
	case name == "git":
		c.gitConfig(args)
		s.bisect(c, ctx)
		s.patches(c, name, ctx)
	case name == "patch":
		s.patches(c, name, ctx)
	case name == "sed" || name == "gsed":
		c.script(sedRuns.MatchString, "sed")
	case slices.Contains([]string{"awk", "gawk", "mawk", "nawk"}, name):
		c.script(runsAwk, "awk")
	}
}

// isOption reports whether an argument is an option. Flags may precede a short one, as in -ix for
// -x.
func isOption(option, text, flags string) bool {
	if cluster(option[:min(2, len(option))]) && flags != "" && cluster(text[:min(2, len(text))]) {
		text = "-" + strings.TrimLeft(text[1:], flags)
	}
	if start, open := strings.CutSuffix(option, "*"); open {
		return strings.HasPrefix(text, start) && !(len(start) == 2 && strings.HasPrefix(text, "--"))
	}
	return option == text
}

// findHiddenCommands raises doubts about commands in the arguments or the input of a command that
// are not analyzed.
func (s source) findHiddenCommands(c *Command, name string, ctx context) {
	if verbs, ok := runners[name]; ok && c.runner(verbs) && !s.console(c, *c, ctx) || strings.HasPrefix(name, "ld-linux") || strings.HasPrefix(name, "ld-musl") {
		c.doubt("what " + name + " runs is not read here")
	}
	args := ownArguments(c, name)
	c.doubtHelpers(name, args, s.timed(c))
	language := languages[name]
	if language != nil && slices.ContainsFunc(args, func(a Word) bool { return language.MatchString(a.Text) }) {
		c.doubt(name + " may be told to run a command")
	}
	s.doubtInput(c, name, language, ctx.feed)
	if name == "tar" && len(args) > 0 && tarCluster.MatchString(args[0].Text) {
		c.doubt("tar is told to run a command: " + clip(args[0].Text))
	}
	s.scriptFiles(c, name)
	s.setsScript(c, name)
	if _, runs := lines[name]; runs {
		s.runsLines(c, name, ctx)
	}
}

// ownArguments returns the arguments of a command without those of a program that it fetches or
// builds.
func ownArguments(c *Command, name string) []Word {
	args := c.Args()
	if w := wrappers[name]; w.fetches { // words after the package are its own arguments
		if inner, ok := w.wrapped(args); ok {
			args = args[:len(args)-len(inner)]
		}
	}
	if at := slices.IndexFunc(args, func(w Word) bool { return w.Text == "--" }); at >= 0 && name == "cargo" {
		args = args[:at] // the rest is for the program that it builds
	}
	return args
}

// doubtHelpers looks for options that name a command to run. timed is true if the code of python -m
// timeit has been analyzed.
func (c *Command) doubtHelpers(name string, args []Word, timed bool) {
	does := c.Verb()
	for _, helper := range helpers[name] {
		verb, option, two := strings.Cut(helper, " ")
		switch {
		case !two:
			option = helper
		case timed && helper == "-m timeit":
			continue
		case does != "" && does != verb, !slices.ContainsFunc(args, func(a Word) bool { return a.Text == verb || !a.Known }):
			continue
		}
		for i, a := range args {
			if isOption(option, a.Text, cmp.Or(flags[name], flags[name+" "+does])) && !harmlessHelper(harmlessHelpers, option, args[i:]) && (harmlessArguments[name] == nil || !harmlessHelper(harmlessArguments[name], option, args[i:])) {
				c.doubt(name + " is told to run a command: " + clip(helper))
			}
		}
	}
}

// doubtInput checks whether a program may run commands in its input. The known input of databases
// and of languages that include files is kept as a here-document, so that other guards check it.
func (s source) doubtInput(c *Command, name string, language *regexp.Regexp, f *feed) {
	database := slices.Contains(databases, name)
	if f != nil && f.known && len(f.from) > 0 && (database || slices.Contains(including, name)) {
		c.Redirects = append(slices.Clip(c.Redirects), Redirect{Here: Word{Text: f.text, Known: true}})
	}
	asks := name == "redis-cli" && len(c.Verbs(1)) > 0 && Option(*c, "-x") != Yes && Option(*c, "--pipe") != Yes && Option(*c, "-X") != Yes
	if slices.Contains(readers, name) && !asks && s.mayHoldCommands(f, language, database) {
		c.doubt(name + " may run what it reads")
	}
}

// mayHoldCommands reports whether a program's input may contain commands in its language. If
// ofFiles is set, a script file is not checked unless the line creates it.
func (s source) mayHoldCommands(f *feed, language *regexp.Regexp, ofFiles bool) bool {
	if f == nil || ofFiles && f.file != "" && len(s.files.made(f.file)) == 0 {
		return false
	}
	return !f.known || language == nil || language.MatchString(f.text)
}

// dockerObjects are verbs of docker followed by another verb that starts no program.
var dockerObjects = []string{"network", "volume", "context"}

// runner reports whether the arguments of a runner make it run something.
func (c Command) runner(verbs string) bool {
	list, except := strings.CutPrefix(verbs, "!")
	if args := c.Args(); len(args) == 1 && (args[0].Text == "--version" || args[0].Text == "--help") {
		return false
	}
	among := func(a Word) bool { return slices.Contains(strings.Fields(list), a.Text) }
	unknown := slices.ContainsFunc(c.Args(), func(a Word) bool { return !a.Known })
	if except {
		return unknown || !slices.ContainsFunc(c.Args(), among) || slices.ContainsFunc(c.Args(), func(a Word) bool { return a.Text == ";" })
	}
	if verbs := c.Verbs(2); len(verbs) > 1 && slices.Contains(dockerObjects, verbs[0]) {
		return false
	} else if len(verbs) > 0 && (len(verbs) > 1 || verbs[0] != "compose" && verbs[0] != "container") {
		unknown = false
	}
	return verbs == "" || unknown || slices.ContainsFunc(c.Args(), among)
}

// harmlessHelper reports whether an option names a command that is known to be harmless. The first
// word is the option.
func harmlessHelper(harmless *regexp.Regexp, option string, words []Word) bool {
	value := strings.TrimPrefix(words[0].Text, strings.TrimSuffix(option, "*"))
	known := words[0].Known
	if value == "" && len(words) > 1 {
		value, known = words[1].Text, words[1].Known
	}
	return known && harmless.MatchString(strings.TrimPrefix(value, "="))
}

// bisect runs the command that git runs for each commit that it tests.
func (s source) bisect(c *Command, ctx context) {
	at := slices.IndexFunc(c.Args(), func(w Word) bool { return w.Text == "run" })
	switch {
	case c.Verb() != "bisect" || at < 0 || at+1 == len(c.Args()):
	case !c.Args()[at+1].plain():
		c.doubt("git runs what is known only then: " + clip(c.Args()[at+1].Text))
	default:
		s.runWithin(c.Args()[at+1:], ctx, MaxDepth)
	}
}
