package pathguard

import (
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/guards/shell"
)

// wording describes which arguments of a command are expressions, messages or excluded names
// instead of files. Arguments that are not described are treated as files, so a gap causes a
// needless question, not a missing one.
type wording struct {
	texts  output   // options that take such a text
	names  []string // options that take a pattern for the files to read
	others []string // options that take a file or another value
	first  bool     // the first operand is such a text
	unless []string // unless one of these options is given
}

var (
	searcher = wording{
		texts: output{"abcEFGhHiIlLnopPqrRsTUvVwWxyzZ0123456789", []string{"-e", "--regexp", "-A", "-B", "-C", "-m", "--after-context", "--before-context", "--max-count"}},
		names: []string{"--include"}, others: []string{"-f", "--file"}, first: true, unless: []string{"-e", "--regexp", "-f", "--file"},
	}
	awks = wording{texts: output{"", []string{"-F", "-e", "--source"}}, others: []string{"-v", "--assign"}, first: true, unless: []string{"-f", "--file", "-e", "--source", "-i", "-E"}}
	seds = wording{texts: output{"nErsuz", []string{"-e", "--expression"}}, first: true, unless: []string{"-e", "--expression", "-f", "--file"}}
	logs = wording{texts: output{options: []string{"--grep", "--author", "--committer", "-S", "-G"}}}
	says = wording{texts: output{"aqsvn", []string{"-m", "--message"}}}

	wordings = map[string]wording{
		"grep": searcher, "egrep": searcher, "fgrep": searcher, "zgrep": searcher, "git grep": searcher,
		"rg": {
			texts: output{"acFhHiIlLnNopPqsSuUvwxz0.", []string{"-e", "--regexp", "-A", "-B", "-C", "-m", "-t", "-T", "-j", "-r", "-M", "-d", "--max-count", "--max-depth", "--type", "--type-not", "--replace", "--color", "--sort"}},
			names: []string{"-g", "--glob", "--iglob"}, others: []string{"-f", "--file", "--ignore-file"}, first: true, unless: []string{"-e", "--regexp", "-f", "--file", "--files", "--type-list"},
		},
		"ag":  {texts: output{"acDfFhHiLlnoQrRsStuUvwz0", []string{"--ignore", "--ignore-dir", "-m", "--max-count"}}, names: []string{"-G", "--file-search-regex"}, others: []string{"-p", "--path-to-ignore"}, first: true, unless: []string{"-g"}},
		"ack": {texts: output{options: []string{"--match", "-m"}}, first: true, unless: []string{"--match", "-f", "-g"}},
		"awk": awks, "gawk": awks, "mawk": awks, "nawk": awks, "sed": seds, "gsed": seds,
		"jq":      {others: []string{"-L"}, first: true, unless: []string{"-f", "--from-file"}},
		"git log": logs, "git show": logs, "git diff": logs, "git shortlog": logs,
		"git commit": says, "git tag": says, "git merge": says,
		"ls":   {texts: output{"aAbBcCdDfFgGhHiklLmnNopqQrRsStuUvxXZ1", []string{"-I", "--ignore", "--hide"}}},
		"tree": {texts: output{options: []string{"-I", "-P"}}},
		"diff": {texts: output{"abBcdeEHilnNpqrsTtuwy", []string{"-x", "-I", "-F"}}},
		"fd":   {texts: output{options: []string{"-E"}}},
		"zip":  {texts: output{options: []string{"-x"}}},
		// Owners and modes. -x is a mode too, and then the first operand is a file.
		"chown": {first: true, unless: []string{"--reference"}}, "chgrp": {first: true, unless: []string{"--reference"}},
		"chmod": {first: true, unless: []string{"--reference", "-r", "-w", "-x", "-X", "-s", "-t", "-u", "-g", "-o", "-a"}},
	}
)

func wordingOf(c shell.Command) wording {
	if verb := c.Verb(); verb != "" {
		return wordings[c.Name()+" "+verb]
	}
	return wordings[c.Name()]
}

// role is the meaning of an argument.
type role int

const (
	plain role = iota
	text       // not a file
	name       // a pattern for file names
	other      // a value that is not an operand
)

// files returns the arguments of a command that may name files, and the patterns for the files that
// it reads.
func (w wording) files(c shell.Command) (files, patterns []shell.Word) {
	args, verb := c.Args(), c.Verb()
	if verb != "" {
		at := slices.IndexFunc(args, func(arg shell.Word) bool { return arg.Text == verb }) + 1
		files, args = slices.Clone(args[:at]), args[at:]
	}
	first := w.first && !slices.ContainsFunc(w.unless, func(option string) bool { return shell.Option(c, option) == shell.Yes })
	var next role
	ended := false
	for i, arg := range args {
		is := next
		next = plain
		option := !ended && is == plain && len(arg.Text) > 1 && arg.Text[0] == '-'
		switch {
		case option && arg.Text == "--":
			ended = true
		case option:
			is, next, arg.Text = w.option(arg.Text)
		case is == plain && first && !arg.Glob || c.Name() == "find" && excluded(args[:i]):
			is, first = text, false
		case is == plain:
			first = false
		}
		if zipped := c.Name() == "zip" && is == text && !option; zipped && i+1 < len(args) && args[i+1].Text != "@" && !strings.HasPrefix(args[i+1].Text, "-") {
			next = text // zip -x a b
		}
		switch is {
		case text:
		case name:
			patterns = append(patterns, arg)
		default:
			files = append(files, arg)
		}
	}
	return files, patterns
}

// option returns the roles of an option and of the next word. rest is the option, or the pattern
// that is joined to it.
func (w wording) option(word string) (is, next role, rest string) {
	for _, of := range []struct {
		output
		role
	}{{w.texts, text}, {output{w.texts.flags, w.names}, name}, {output{w.texts.flags, w.others}, other}} {
		value, behind := of.of(word)
		option, _, _ := strings.Cut(word, "=")
		switch {
		case strings.HasPrefix(word, "--") && !slices.Contains(of.options, option): // abbreviated, or another option
		case behind:
			return text, of.role, word
		case value != "" && of.role == name:
			return name, plain, value
		case value != "" && of.role == text:
			return text, plain, word
		}
	}
	option, _, joined := strings.Cut(word, "=")
	switch fromFile := strings.HasSuffix(option, "-from") || strings.HasSuffix(option, "-file") || strings.HasSuffix(option, "-path"); {
	case fromFile:
	case joined && (strings.HasPrefix(option, "--exclude") || strings.HasPrefix(option, "--ignore")):
		return text, plain, word
	case option == "--exclude" || option == "--exclude-dir":
		return text, text, word
	}
	return plain, plain, word
}

// excluded reports whether the words of a find end with a negated test, whose value names excluded
// files.
func excluded(before []shell.Word) bool {
	tests := []string{"-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-regex", "-iregex", "-lname", "-samefile"}
	n := len(before)
	return n > 1 && slices.Contains(tests, before[n-1].Text) && (before[n-2].Text == "!" || before[n-2].Text == "-not")
}
