package shell

import (
	"regexp"
	"slices"
	"strings"
)

// shells are the shells that read about the same language.
var shells = map[string]bool{"sh": true, "bash": true, "dash": true, "zsh": true, "ksh": true, "mksh": true, "ash": true, "rbash": true, "rzsh": true, "osh": true, "ysh": true, "yash": true, "bosh": true, "lksh": true, "oksh": true, "pdksh": true}

// shell analyzes sh and similar shells: a script after -c, a file, or standard input.
func (s source) shell(c *Command, args []Word, ctx context) {
	script, reads, checks := false, false, false
	for len(args) > 0 {
		arg := args[0]
		text := arg.Text
		if !arg.plain() || len(text) < 2 || text[0] != '-' && text[0] != '+' {
			break
		}
		args = args[1:]
		if text == "--" {
			break
		}
		if strings.HasPrefix(text, "--") {
			if text == "--emulate" && len(args) > 0 {
				args = args[1:]
			}
			if takes := text == "--rcfile" || text == "--init-file"; takes && len(args) > 0 {
				s.file(c, args[0], ctx)
				args = args[1:]
			}
			continue
		}
		script = script || text[0] == '-' && strings.Contains(text, "c")
		reads = reads || strings.Contains(text, "s")
		checks = (checks || text == "-n") && text[0] == '-' && !strings.Contains(text, "i")
		if strings.ContainsAny(text, "oO") && len(args) > 0 {
			args = args[1:]
		}
	}
	switch {
	case checks && !script && !reads: // it is only checked
	case script && len(args) > 0:
		s.withArguments(c, args, ctx)
	case script:
		c.doubt(c.Name() + " is given no command")
	case len(args) == 0 || reads || args[0].Text == "-":
		s.standardInput(c, ctx)
	default:
		s.file(c, args[0], ctx)
	}
}

// shifts matches constructs that change the arguments of a script.
var shifts = regexp.MustCompile(`\b(shift|set|getopts|function)\b|\(\s*\)|\\\w`)

// withArguments analyzes a script after -c with its arguments. If an argument represents several
// files, the script is analyzed once for each argument.
func (s source) withArguments(c *Command, args []Word, ctx context) {
	outer, depth := s.parser.arguments, s.parser.argumentsDepth
	defer func() { s.parser.arguments, s.parser.argumentsDepth = outer, depth }()
	s.parser.arguments, s.parser.argumentsDepth = nil, s.depth+1
	if !shifts.MatchString(args[0].Text) {
		s.parser.arguments = args[1:]
	}
	if !slices.ContainsFunc(s.parser.arguments, func(w Word) bool { return w.Glob || w.Deep || w.Many }) {
		s.joined(c, args[:1], ctx)
		return
	}
	if len(args) < 3 || len(args) > maxRounds {
		s.parser.arguments = nil
		s.joined(c, args[:1], ctx)
		return
	}
	for _, w := range args[2:] {
		s.parser.arguments = []Word{args[1], w}
		s.joined(c, args[:1], ctx)
	}
}

// standardInput analyzes the script that a shell reads from standard input.
func (s source) standardInput(c *Command, ctx context) {
	switch f := ctx.feed; {
	case f == nil && !endsAtOnce("", c.Args()):
		c.doubt(c.Name() + runsTyped)
	case f == nil:
	case f.known:
		s.line(f.text, s.depth+1, context{redirects: ctx.redirects})
	default:
		c.Runs = append(c.Runs, f.from...)
		c.doubt(c.Name() + " runs " + f.of)
	}
}

// file checks a script file. Its contents are not analyzed unless the line writes them.
func (s source) file(c *Command, file Word, ctx context) {
	if isDescriptor(file.Text) {
		s.standardInput(c, ctx)
		return
	}
	s.runsFile(c, file)
	s.runsUnpacked(c, file)
}

// su analyzes a command line that runs as another user.
func (s source) su(c *Command, args []Word, ctx context) {
	for i, a := range args {
		value, joined := strings.CutPrefix(a.Text, "--command=")
		switch {
		case !a.Known:
			c.doubt("the options of " + c.Name() + " are not known: " + clip(c.String()))
		case joined:
			s.line(value, s.depth+1, ctx)
		case (a.Text == "--command" || len(a.Text) > 1 && a.Text[0] == '-' && a.Text[1] != '-' && strings.HasSuffix(a.Text, "c")) && i+1 < len(args):
			s.joined(c, args[i+1:i+2], ctx)
		case a.Text == "--" && i+1 < len(args) && c.Name() == "runuser":
			s.run(args[i+1:], ctx)
			return
		case strings.HasPrefix(a.Text, "-c"):
			s.line(a.Text[2:], s.depth+1, ctx)
		}
	}
	if ctx.feed != nil {
		s.standardInput(c, ctx)
	}
}
