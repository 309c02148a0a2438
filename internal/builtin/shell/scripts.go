package shell

import (
	"regexp"
	"strings"
)

// scriptFiles looks for files of code that are no files, or are made by the same line.
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
		}
	}
	args := c.Args()
	for i, a := range args {
		for _, option := range scripts[name] {
			value, joined := strings.CutPrefix(a.Text, option)
			switch {
			case joined && value == "" && i+1 < len(args):
				check(args[i+1])
			case joined && value != "" && (len(option) == 2 || value[0] == '='):
				a.Text = strings.TrimPrefix(value, "=")
				check(a)
			}
		}
	}
	if strings.HasSuffix(name, "make") && scripts[name] != nil {
		for _, file := range []string{"Makefile", "makefile", "GNUmakefile"} {
			check(Word{Text: file, Known: true})
		}
	}
}

func isDescriptor(file string) bool {
	return file == "/dev/stdin" || strings.HasPrefix(file, "/dev/fd/") || strings.HasPrefix(file, "/proc/self/fd/")
}

// script looks for what runs commands in the scripts of sed and awk: in the words behind
// the name, and joined to an option.
func (c *Command) script(runs *regexp.Regexp, language string) {
	first := true // the first word that is no option may be the script
	for _, a := range c.Args() {
		text := a.Text
		option := strings.HasPrefix(text, "-")
		if option {
			text = scriptOption.ReplaceAllString(text, "")
		}
		switch {
		case runs.MatchString(text) && (!option || text != a.Text), first && !option && language == "sed" && sedBegins.MatchString(text):
			c.doubt(language + " may be told to run a command")
		case !a.Known && strings.ContainsAny(text, "$`{") && !option && !strings.ContainsAny(text, "/."):
			c.doubt("the code for " + language + " is known only when it runs: " + clip(text))
		}
		first = first && option
	}
}
