package shell

import (
	"regexp"
	"strings"
)

// scriptFiles checks the files with code that a program's options name.
func (s source) scriptFiles(c *Command, name string) {
	check := func(file Word) {
		switch {
		case !file.Known || file.Deep:
			c.Runs = append(c.Runs, file.Runs...)
			c.doubt(name + " runs a file that is known only then: " + clip(file.Text))
		case len(s.files.made(file.Text)) > 0:
			s.runsMade(c, file)
		case file.Text == "-" || isDescriptor(file.Text):
			c.doubt(name + " runs what it reads")
		case strings.HasSuffix(name, "awk") && elsewhere(file.Text):
			c.doubt(name + " runs a file that stands outside of the project: " + clip(file.Text))
		}
	}
	for a := range scripts[name].Each(c.Args()) {
		if a.Value.Text = strings.TrimPrefix(a.Value.Text, "="); a.Takes && a.Value.Text != "" {
			check(a.Value)
		}
	}
	if name == "make" || name == "gmake" {
		for _, file := range []string{"Makefile", "makefile", "GNUmakefile"} {
			check(Word{Text: file, Known: true})
		}
	}
}

// elsewhere reports whether a file is in /tmp, in a home directory or above the working directory.
func elsewhere(file string) bool {
	return strings.HasPrefix(file, "/tmp/") || strings.HasPrefix(file, "~") || strings.HasPrefix(file, "../")
}

func isDescriptor(file string) bool {
	return file == "/dev/stdin" || strings.HasPrefix(file, "/dev/fd/") || strings.HasPrefix(file, "/proc/self/fd/")
}

var (
	// codeElsewhere are the options of sed and awk that mean that no operand is code. optionValue
	// are those that take a value.
	codeElsewhere = regexp.MustCompile(`^(-[nErsuz]*f|--(file|expression|source)$)`)
	optionValue   = map[string]*regexp.Regexp{"sed": regexp.MustCompile(`^(-l|--line-length)$`), "awk": regexp.MustCompile(`^(-[vFil]|--(assign|field-separator|include|load))$`)}
	codeOption    = regexp.MustCompile(`^(-[nErsuz]*e|--expression|--source)$`)
	// sedCommand matches a script whose first command is literal. Its address may be a variable.
	sedCommand = regexp.MustCompile("^([0-9,~+$!{\\s]|\\$\\w+|\\$\\{[^}]*\\}|\\$\\(\\([^)]*\\)\\))*([sy][^\\w\\s$`]|/|\\\\\\W|[aic][\\\\ ]|[dDpPqQ=]\\s*([;}]|$))")
)

// script looks for commands in the code of sed and awk, in operands and in values that are joined
// to an option. The code is the value of an option, or the first operand.
func (c *Command) script(runs func(code string) bool, language string) {
	first, before := true, ""
	for _, a := range c.Args() {
		text := a.Text
		option := strings.HasPrefix(text, "-")
		if option {
			text = scriptOption.ReplaceAllString(text, "")
		}
		suffix := language == "sed" && before == "-i" && (text == "" || text[0] == '.') // of BSD sed
		code := codeOption.MatchString(before) || first && !option && !suffix && !optionValue[language].MatchString(before)
		unknown := !a.Known && !option && strings.ContainsAny(text, "$`{")
		switch {
		case runs(text) && (!option || text != a.Text), code && language == "sed" && sedBegins.MatchString(text):
			c.doubt(language + " may be told to run a command")
		case unknown && code && language == "sed" && !sedCommand.MatchString(text),
			unknown && (code && language == "awk" || a.Many && language == "sed") && !strings.ContainsAny(text, "/."):
			c.doubt("the code for " + language + " is known only when it runs: " + clip(text))
		}
		first = first && !code && (!option || text == a.Text) && !codeElsewhere.MatchString(a.Text)
		before = a.Text
	}
}
