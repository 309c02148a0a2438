package shell

import (
	"regexp"
	"slices"
	"strings"
)

// console is a program that runs code in the context of a project.
type console struct {
	language string
	verbs    []string // that make it run code
	options  []string // that take the code; if empty, the code is the only argument
}

var consoles = map[string]console{
	"manage.py":    {"Python", []string{"shell", "shell_plus"}, []string{"-c", "--command"}},
	"django-admin": {"Python", []string{"shell"}, []string{"-c", "--command"}},
	"django":       {"Python", []string{"shell", "shell_plus"}, []string{"-c", "--command"}},
	"flask":        {"Python", []string{"shell"}, []string{"-c"}},
	"rails":        {"Ruby", []string{"runner", "r", "console", "c"}, nil},
	"artisan":      {"PHP", []string{"tinker"}, []string{"--execute"}},
	"mix":          {"Elixir", []string{"run"}, []string{"-e", "--eval"}},
}

// quiet are console options that do not affect what runs.
var quiet = strings.Fields("-s --sandbox --no-color --plain --ansi --no-ansi --no-start --no-compile --no-startup --no-imports -v0 --verbosity=0 -v")

// console analyzes the code that the console of a program is given as an argument or on its
// standard input. It returns false if that is not possible.
func (s source) console(c *Command, program Command, ctx context) bool {
	of, is := consoles[program.Name()]
	if !is {
		return false
	}
	var text string
	verbSeen, given := false, false
	for args := program.Args(); len(args) > 0; args = args[1:] {
		w := args[0]
		option, value, joined := strings.Cut(w.Text, "=")
		switch {
		case !w.plain() || given:
			return false
		case !verbSeen:
			if verbSeen = slices.Contains(of.verbs, w.Text); !verbSeen {
				return false
			}
		case slices.Contains(quiet, w.Text):
		case joined && slices.Contains(of.options, option):
			text, given = value, true
		case slices.Contains(of.options, w.Text):
			if len(args) < 2 || !args[1].plain() {
				return false
			}
			text, given, args = args[1].Text, true, args[1:]
		case len(of.options) == 0 && !strings.HasPrefix(w.Text, "-"):
			text, given = w.Text, true
		default:
			return false
		}
	}
	if !given {
		if ctx.feed == nil || !ctx.feed.known {
			return false
		}
		text = ctx.feed.text
	}
	return s.readsCode(c, text, of.language, true)
}

// timed analyzes the code that python -m timeit is given. It returns false if that is not possible.
func (s source) timed(c *Command) bool {
	args := c.Args()
	if len(args) < 3 || args[0].Text != "-m" || args[1].Text != "timeit" {
		return false
	}
	for args = args[2:]; len(args) > 0; args = args[1:] {
		w := args[0]
		if w.Text == "-s" && len(args) > 1 {
			w, args = args[1], args[1:]
		} else if timeFlags.MatchString(w.Text) {
			continue
		} else if (w.Text == "-n" || w.Text == "-r" || w.Text == "-u") && len(args) > 1 {
			args = args[1:]
			continue
		}
		if !w.plain() || strings.HasPrefix(w.Text, "-") || !s.readsCode(c, w.Text, "Python", false) {
			return false
		}
	}
	return true
}

var timeFlags = regexp.MustCompile(`^-(v+|p|[nr]\d+)$`)

// runsCode looks for a program, such as manage.py, whose arguments make it run code.
func (s source) runsCode(c *Command, ctx context) {
	args := c.Args()
	at := slices.IndexFunc(args, func(a Word) bool { return !strings.HasPrefix(a.Text, "-") })
	if at < 0 {
		return
	}
	program := Command{Words: args[at:]}
	if verbs := runners[program.Name()]; verbs != "" && program.runner(verbs) && !s.console(c, program, ctx) {
		c.doubt("what " + program.Name() + " runs is not read here")
	}
}
