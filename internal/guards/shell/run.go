package shell

import (
	"slices"
	"strings"
	"unicode"
)

// run lists a command and the commands that it runs.
func (s source) run(words []Word, ctx context) { s.runWithin(words, ctx, 0) }

// runWithin is run at a nesting depth of commands that run commands.
func (s source) runWithin(words []Word, ctx context, depth int) {
	c := Command{Assigns: ctx.assigns, Words: words, Redirects: ctx.redirects, Built: ctx.function && depth == 0}
	name := c.Name()
	s.setVariables(name, words[1:], ctx)
	s.findHiddenCommands(&c, name, ctx)
	s.runAlias(&c, ctx, depth)
	if slices.Contains(evaluators, name) {
		s.doubtEvaluated(words[1:])
	}
	w, wraps := wrappers[name]
	switch {
	case c.doubtName(name, depth):
		s.add(c, ctx)
	case name == "cd" || name == "pushd" || name == "popd":
		s.add(c, ctx)
		s.cd(name, words[1:])
	case wraps:
		s.runWrapper(c, w, ctx, depth)
	case name == "find":
		s.add(c, ctx)
		s.find(c, ctx, depth)
	case name == "fd" || name == "fdfind":
		s.add(c, ctx)
		s.fd(c, ctx, depth)
	default:
		s.runArguments(&c, name, ctx)
		s.add(c, ctx)
	}
}

// doubtName reports whether a command is not analyzed further because its name is uncertain or it
// is nested too deep.
func (c *Command) doubtName(name string, depth int) bool {
	switch {
	case depth > MaxDepth:
		c.doubt("commands stand within commands too deep")
	case name == "":
		c.Runs = c.Words[0].Runs
		c.doubt("the name of the command is known only when it runs: " + clip(c.Words[0].Text))
	case unusualName(c.Words[0].Text):
		c.doubt("the name of the command has unusual characters: " + clip(c.Words[0].Text))
	default:
		return false
	}
	return true
}

// runWrapper lists a command such as env or sudo, and then the command in its arguments.
func (s source) runWrapper(c Command, w wrapper, ctx context, depth int) {
	args := c.Words[1:]
	inner, ok := w.wrapped(args)
	if !ok {
		c.doubt("the options of " + c.Name() + " are not known: " + clip(c.String()))
		s.add(c, ctx)
		return
	}
	options := args[:len(args)-len(inner)]
	if w.more && len(inner) > 0 {
		inner = given(options, inner, ctx.feed)
	}
	if len(inner) == 0 && ctx.feed != nil && w.login {
		s.standardInput(&c, ctx)
	}
	s.add(c, ctx)
	if w.assigns {
		s.assignments(options)
	}
	dirs := s.parser.dirs
	s.parser.dirs = w.dirs(dirs, options)
	s.inner(w, inner, ctx, depth)
	s.parser.dirs = dirs
}

// runArguments lists the commands in the arguments, files or input of a command.
func (s source) runArguments(c *Command, name string, ctx context) {
	args := c.Words[1:]
	switch {
	case shells[name]:
		s.shell(c, args, ctx)
	case name == "eval":
		s.joined(c, args, ctx)
	case name == "trap" && len(args) > 1:
		args[0].Text = s.filled(args[0].Text)
		s.joined(c, args[:1], ctx)
	case name == "alias":
		s.alias(c, ctx)
	case name == "." || name == "source":
		if len(args) > 0 {
			s.file(c, args[0], ctx)
		}
	case name == "su" || name == "runuser":
		s.su(c, args, ctx)
	case slices.Contains(declares, name):
		s.declared(name, args)
	default:
		if name == "make" || name == "gmake" {
			s.assignments(slices.DeleteFunc(slices.Clone(args), namesCompiler))
		}
		s.program(c, name, ctx)
	}
}

func (c *Command) doubt(d string) { c.Doubts = withDoubt(c.Doubts, d) }

// unusualName reports whether a name can be mistaken for another one, or has a meaning only in
// other shells.
func unusualName(name string) bool {
	return strings.HasPrefix(name, "=") || strings.ContainsFunc(name, func(r rune) bool { return r > unicode.MaxASCII || r <= ' ' })
}

// inner lists the command that a wrapper runs.
func (s source) inner(w wrapper, words []Word, ctx context, depth int) {
	if w.line {
		if len(words) > 0 {
			c := Command{Words: words, Redirects: ctx.redirects}
			s.joined(&c, words, ctx)
			if len(c.Doubts) > 0 {
				s.add(c, ctx)
			}
		}
		return
	}
	if len(words) > 0 {
		s.runWithin(words, ctx, depth+1)
	}
}

// cd adds the directories where the next command may run. The old ones stay because cd may fail.
func (s source) cd(name string, args []Word) {
	for len(args) > 0 && slices.Contains([]string{"-P", "-L", "-e", "-@", "--"}, args[0].Text) {
		args = args[1:]
	}
	to := Word{Text: "~", Known: true}
	if len(args) > 0 {
		to = args[0]
	}
	if name == "popd" || !to.plain() || to.Text == "-" || strings.HasPrefix(to.Text, "+") || name == "pushd" && len(args) == 0 {
		s.parser.dirs = nil
		return
	}
	dirs := slices.Clone(s.dirs)
	for _, dir := range s.dirs {
		if next := join(dir, to.Text); !slices.Contains(dirs, next) {
			dirs = append(dirs, next)
		}
	}
	if len(dirs) > maxDirs {
		dirs = nil
	}
	s.parser.dirs = dirs
}

// joined analyzes words that are joined to a line.
func (s source) joined(c *Command, words []Word, ctx context) {
	texts := make([]string, len(words))
	for i, w := range words {
		if texts[i] = w.Text; !w.plain() {
			c.Runs = append(c.Runs, w.Runs...)
			c.doubt(c.Name() + " runs what is known only then: " + clip(w.Text))
			return
		}
	}
	s.line(strings.Join(texts, " "), s.depth+1, ctx)
}
