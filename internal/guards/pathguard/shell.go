package pathguard

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hookrouter/hookrouter/internal/guards/shell"
)

// ofScript returns the file accesses of a line's commands, within the budget.
func ofScript(w *budget, script shell.Script) (all []access, unclear []string) {
	names := readsNoneListed(script.Commands)
	for i, c := range script.Commands {
		if i+1 < len(script.Commands) {
			c.Words = own(c, script.Commands[i+1])
		}
		s := &collector{budget: w, dirs: c.Dirs, listsNames: names && listsNames(c)}
		for _, r := range c.Redirects {
			s.word(r.File, r.File.Text, access{reads: !r.Write, writes: r.Write}, true)
		}
		s.mentions(c)
		s.variables(c)
		s.addresses(c)
		s.listed(c)
		s.command(c)
		all, unclear = append(all, s.all...), append(unclear, s.unclear...)
	}
	return all, unclear
}

// collector collects the file accesses of one command.
type collector struct {
	budget     *budget
	dirs       []string // if nil, unknown
	contains   bool     // words may name files that a container can access
	prefixed   bool     // words may have a prefix that tells how to read the file
	listsNames bool     // the command only prints the names of the files that it finds
	all        []access
	unclear    []string
}

// own returns the words of a command without those of the command that it runs, which is the next
// one in the list and evaluated there.
func own(c, next shell.Command) []shell.Word {
	switch {
	case c.Name() == "find":
		words, _ := shell.SplitExec(c.Words)
		return words
	case slices.Contains(containers, c.Name()):
		if at := len(c.Words) - len(next.Words); at > 0 && len(next.Words) > 0 && c.Words[at].Text == next.Words[0].Text {
			return c.Words[:at]
		}
	case len(c.Doubts) == 0 && len(next.Words) > 0 && slices.Contains(wrapping, c.Name()):
		if at := slices.IndexFunc(c.Args(), func(w shell.Word) bool { return w.Text == next.Words[0].Text }); at >= 0 {
			return c.Words[:at+1]
		}
	}
	return c.Words
}

var (
	// template matches an example of an env file, and filled the file that it is for.
	template = regexp.MustCompile(`^\.env(\.\w+)?\.(example|sample|template|dist)$`)
	filled   = regexp.MustCompile(`^\.env(\.\w+)?$`)
)

// fromTemplate reports whether a command copies a template to its env file in the same directory:
// cp .env.example .env
func fromTemplate(c shell.Command) bool {
	args := c.Args()
	if len(args) == 3 && args[0].Text == "-n" {
		args = args[1:]
	}
	if len(args) != 2 || !args[0].Known || args[0].Glob || !args[1].Known || args[1].Glob {
		return false
	}
	from, to := path.Clean(args[0].Text), path.Clean(args[1].Text)
	return path.Dir(from) == path.Dir(to) && !strings.HasPrefix(to, "/") && !strings.HasPrefix(to, "~") && !strings.HasPrefix(to, "..") &&
		template.MatchString(path.Base(from)) && filled.MatchString(path.Base(to))
}

// mirrors are options with which wget creates the directories of a URL.
var mirrors = []string{"-r", "--recursive", "-x", "--force-directories", "-m", "--mirror", "-p", "--page-requisites"}

// fetched finds the files that curl and wget name after a URL.
func (s *collector) fetched(c shell.Command) {
	if c.Name() == "wget" && (shell.Option(c, "-O") == shell.Yes || shell.Option(c, "--output-document*") == shell.Yes) {
		return
	}
	whole := c.Name() == "wget" && c.MayHave(mirrors...)
	for _, w := range c.Args() {
		_, address, found := strings.Cut(w.Text, "://")
		_, name, _ := strings.Cut(address, "/")
		if name, _, _ = strings.Cut(name, "?"); !found || name == "" || !w.Known {
			continue
		}
		s.all = append(s.all, s.found(path.Base(name), access{writes: true})...)
		if whole {
			s.all = append(s.all, s.found(name, access{writes: true})...)
		}
	}
}

// enter adds the directory of a command's option -C.
func (s *collector) enter(name string, args []shell.Word) {
	for i, w := range args {
		if w.Text == "-C" && i+1 < len(args) && args[i+1].Known && slices.Contains(entering, name) {
			for _, dir := range slices.Clone(s.dirs) {
				to := args[i+1].Text
				if !strings.HasPrefix(to, "/") && !strings.HasPrefix(to, "~") {
					to = path.Join(dir, to)
				}
				switch {
				case slices.Contains(s.dirs, to):
				case len(s.dirs) == maxEntered:
					s.budget.spent = true
					return
				default:
					s.dirs = append(slices.Clip(s.dirs), to)
				}
			}
		}
	}
}

// into finds the files that a command writes if its target is a directory: one with the name of
// each source.
func (s *collector) into(sources, targets []shell.Word, below bool) {
	for _, target := range targets {
		for _, w := range sources {
			if s.budget.spent {
				return
			}
			name := path.Base(w.Text[strings.LastIndexByte(w.Text, ':')+1:])
			if w.Known && target.Known && strings.Trim(name, "./") != "" {
				w.Glob = w.Glob || target.Glob
				s.word(w, target.Text+"/"+name, access{writes: true, below: below}, true)
			}
		}
	}
}

// begins reports whether a sed command may begin after a text: not within a word, except after
// flags of s.
func begins(before string) bool {
	before = strings.TrimRight(before, "gpIimMe0123456789")
	last, _ := utf8.DecodeLastRuneInString(before)
	return before == "" || !unicode.IsLetter(last)
}

// maxScripted is the maximum number of file names in a sed script.
const maxScripted = 100

// scripted finds the files that a sed script may read or write. They follow a w or r up to the end
// of the line.
func (s *collector) scripted(script string) {
	found := 0
	for i := range len(script) {
		if strings.IndexByte("wWrR", script[i]) < 0 || !begins(script[:i]) {
			continue
		}
		if found++; found > maxScripted {
			s.unclear = append(s.unclear, "which files a script of sed writes can't be known: it is too long")
			return
		}
		text, _, _ := strings.Cut(script[i+1:], "\n")
		s.all = append(s.all, s.found(strings.TrimSpace(text), access{reads: true, writes: script[i]|0x20 == 'w'})...)
	}
}
