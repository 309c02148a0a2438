package shell

import (
	"slices"
	"strings"
	"unicode"
)

// run lists a command, and what it runs in turn.
func (s source) run(words []Word, ctx context) { s.runWithin(words, ctx, 0) }

// runWithin: depth counts commands that run commands.
func (s source) runWithin(words []Word, ctx context, depth int) {
	c := Command{Assigns: ctx.assigns, Words: words, Redirects: ctx.redirects, Built: ctx.function && depth == 0}
	name := c.Name()
	s.sets(name, words[1:], ctx)
	s.told(&c, name, ctx)
	s.aliased(&c, ctx, depth)
	if slices.Contains(evaluators, name) {
		s.evaluated(words[1:])
	}
	switch w, wraps := wrappers[name]; {
	case depth > MaxDepth:
		c.doubt("commands stand within commands too deep")
	case name == "":
		c.Runs = words[0].Runs
		c.doubt("the name of the command is known only when it runs: " + clip(words[0].Text))
	case odd(words[0].Text):
		c.doubt("the name of the command has unusual characters: " + clip(words[0].Text))
	case name == "cd" || name == "pushd" || name == "popd":
		s.add(c, ctx)
		s.cd(name, words[1:])
		return
	case wraps:
		inner, ok := w.wrapped(words[1:])
		if !ok {
			c.doubt("the options of " + name + " are not known: " + clip(c.String()))
			break
		}
		options := words[1 : len(words)-len(inner)]
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
		return
	case shells[name]:
		s.shell(&c, words[1:], ctx)
	case name == "eval":
		s.joined(&c, words[1:], ctx)
	case name == "trap" && len(words) > 2:
		words[1].Text = s.filled(words[1].Text)
		s.joined(&c, words[1:2], ctx)
	case name == "alias":
		s.alias(&c, ctx)
	case name == "." || name == "source":
		if len(words) > 1 {
			s.file(&c, words[1], ctx)
		}
	case name == "su" || name == "runuser":
		s.su(&c, words[1:], ctx)
	case name == "find":
		s.add(c, ctx)
		s.find(c, ctx, depth)
		return
	case name == "fd" || name == "fdfind":
		s.add(c, ctx)
		s.fd(c, ctx, depth)
		return
	case slices.Contains(declares, name):
		s.declared(name, words[1:])
	default:
		s.program(&c, name, ctx)
	}
	s.add(c, ctx)
}

func (c *Command) doubt(d string) {
	if !slices.Contains(c.Doubts, Doubt(d)) {
		c.Doubts = append(c.Doubts, Doubt(d))
	}
}

// odd finds names that look like others, and what only other shells understand.
func odd(name string) bool {
	return strings.HasPrefix(name, "=") || strings.ContainsFunc(name, func(r rune) bool { return r > unicode.MaxASCII || r <= ' ' })
}

// inner runs what a wrapper runs.
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

// cd may fail: what follows runs there or where it was.
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

// joined runs words joined to a line.
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
