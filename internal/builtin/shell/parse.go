package shell

import (
	"slices"
	"strings"
	"unicode"

	"mvdan.cc/sh/v3/syntax"
)

// Parse says what a line runs in the directory cwd, which is empty where it is not
// known. It never fails: what it can't read is a doubt.
func Parse(line, cwd string) Script {
	p := &parser{dirs: []string{cwd}}
	p.line(line, 0, context{})
	return p.script
}

// parser collects what a line runs.
type parser struct {
	script    Script
	dirs      []string // where the next command may run; nil: nobody knows
	functions int      // that were looked at
	full      bool     // there are more commands than are listed
}

// context is what stands around a command.
type context struct {
	feed      *feed
	redirects []Redirect
}

// feed is what a command reads.
type feed struct {
	text  string
	known bool
	from  []string // names of the commands that write it
	of    string   // what it is, for people
	file  string   // that it is the content of, where that is known
	names []Word   // the files that it lists, where these are known
}

// source is one line that is read.
type source struct {
	*parser
	text  string
	depth int
	plain bool // words don't say what they run
}

// shallow is the source for a look at its words alone.
func (s source) shallow() source {
	s.plain = true
	return s
}

func (p *parser) doubt(d Doubt) {
	if !slices.Contains(p.script.Doubts, d) {
		p.script.Doubts = append(p.script.Doubts, d)
	}
}

// line reads a line that stands depth lines deep.
func (p *parser) line(text string, depth int, ctx context) {
	switch {
	case depth > MaxDepth:
		p.doubt("commands stand within commands too deep")
		return
	case len(text) > MaxLine:
		p.doubt("the command is too long")
		return
	case nesting(text) > MaxNesting:
		p.doubt("the command is nested too deep")
		return
	}
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if strings.ContainsFunc(text, hidden) {
		p.doubt("it has characters that can't be seen")
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		p.doubt("it is not a line that bash could read")
	}
	switch {
	case file == nil:
	case substitutions(file) > maxSubstitutions:
		p.doubt("the command is nested too deep")
	default:
		source{p, text, depth, false}.walk(file, ctx)
	}
}

// substitutions is how deep they stand in one another.
func substitutions(file *syntax.File) int {
	var open []bool
	depth, most := 0, 0
	syntax.Walk(file, func(n syntax.Node) bool {
		if n == nil {
			if open[len(open)-1] {
				depth--
			}
			open = open[:len(open)-1]
			return true
		}
		counts := false
		switch n.(type) {
		case *syntax.CmdSubst, *syntax.ProcSubst, *syntax.ParamExp, *syntax.FuncDecl, *syntax.ExtGlob:
			counts = true
			depth++
			most = max(most, depth)
		}
		open = append(open, counts)
		return true
	})
	return most
}

// hidden finds what lets a line look other than it is.
func hidden(r rune) bool {
	return r == unicode.ReplacementChar || unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Cf, r)
}

// nesting is how many brackets are open at once, quoted ones too.
func nesting(text string) int {
	open, most := 0, 0
	for i := range len(text) {
		switch text[i] {
		case '(', '{', '[':
			open++
			most = max(most, open)
		case ')', '}', ']':
			open = max(0, open-1)
		}
	}
	return most
}

// walk goes through a part of the source.
func (s source) walk(node syntax.Node, ctx context) {
	syntax.Walk(node, func(n syntax.Node) bool {
		if s.full {
			return false
		}
		switch n := n.(type) {
		case *syntax.Stmt:
			s.stmt(n, ctx)
			return false
		case *syntax.BinaryCmd:
			if n.Op != syntax.Pipe && n.Op != syntax.PipeAll {
				return true
			}
			before := len(s.script.Commands)
			s.walk(n.X, ctx)
			ctx := ctx
			ctx.feed = s.piped(s.script.Commands[min(before, len(s.script.Commands)):])
			s.walk(n.Y, ctx)
			return false
		case *syntax.FuncDecl:
			s.function(n)
		case *syntax.LetClause, *syntax.TestClause, *syntax.ArithmCmd, *syntax.ArithmExp:
			s.evaluated([]Word{{Text: s.sourceOf(n)}})
		case *syntax.DeclClause:
			s.declare(n, ctx)
		case *syntax.CallExpr:
			words := s.words(n.Args)
			for _, a := range n.Assigns {
				s.assign(a, words)
			}
			if len(words) > 0 {
				s.run(words, ctx)
			}
		}
		return true
	})
}

// stmt is a command with its redirections.
func (s source) stmt(n *syntax.Stmt, ctx context) {
	ctx.redirects = slices.Clone(ctx.redirects)
	for _, r := range n.Redirs {
		s.redirect(r, &ctx)
	}
	before := len(s.script.Commands)
	if n.Cmd != nil {
		s.walk(n.Cmd, ctx)
	}
	if len(n.Redirs) > 0 && len(s.script.Commands) == before { // > x, and x=1 > y
		s.add(Command{Redirects: ctx.redirects})
	}
}

func (s source) redirect(r *syntax.Redirect, ctx *context) {
	if r.Word != nil {
		s.walk(r.Word, context{feed: ctx.feed})
	}
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		if r.Hdoc == nil {
			ctx.feed = &feed{known: true}
			return
		}
		s.walk(r.Hdoc, context{feed: ctx.feed})
		quoted := strings.ContainsAny(s.sourceOf(r.Word), `'"\`)
		text, known := s.document(r.Hdoc, quoted)
		ctx.feed = &feed{text: text, known: known, of: "a text with variables"}
	case syntax.WordHdoc:
		w := s.words([]*syntax.Word{r.Word})[0]
		ctx.feed = &feed{text: w.Text, known: w.Known, from: w.Runs, of: w.Text}
	case syntax.DplIn, syntax.DplOut:
		w := s.words([]*syntax.Word{r.Word})[0]
		if !w.Known || strings.Trim(w.Text, "0123456789-") != "" {
			ctx.redirects = append(ctx.redirects, Redirect{w, r.Op == syntax.DplOut})
		}
		if r.N == nil && r.Op == syntax.DplIn || r.N != nil && r.N.Value == "0" {
			ctx.feed = &feed{from: w.Runs, of: "what comes in by the descriptor " + clip(w.Text)}
		}
	case syntax.RdrIn:
		w := s.words([]*syntax.Word{r.Word})[0]
		ctx.redirects = append(ctx.redirects, Redirect{w, false})
		if r.N == nil || r.N.Value == "0" {
			ctx.feed = &feed{from: w.Runs, of: "the content of " + clip(w.Text)}
			if w.plain() && !isDescriptor(w.Text) {
				ctx.feed.file = w.Text
			}
		}
	default:
		ctx.redirects = append(ctx.redirects, Redirect{s.words([]*syntax.Word{r.Word})[0], true})
	}
}

// piped is what commands write into a pipe.
func (s source) piped(commands []Command) *feed {
	f := &feed{of: "what a pipe brings"}
	commands = commands[max(0, len(commands)-maxBraces):]
	for _, c := range commands {
		f.from = append(f.from, c.Name())
	}
	if len(commands) == 1 && commands[0].Name() == "echo" {
		f.known = true
		for i, w := range commands[0].Args() {
			f.known = f.known && w.Known && !w.Glob && !strings.HasPrefix(w.Text, "-") && !strings.Contains(w.Text, `\`)
			if i > 0 {
				f.text += " "
			}
			f.text += w.Text
		}
	} else if len(commands) > 0 {
		if len(commands) == 1 && commands[0].Name() == "find" {
			f.names = listed(commands[0])
		}
		f.of = "what " + clip(commands[len(commands)-1].Name()) + " prints"
	}
	return f
}

// function looks for a function that multiplies itself.
func (s source) function(n *syntax.FuncDecl) {
	if s.functions++; s.functions > maxFunctions {
		s.doubt("it has too many functions")
		return
	}
	names := n.Names
	if n.Name != nil {
		names = append(slices.Clone(names), n.Name)
	}
	var look func(node syntax.Node, multiplied bool)
	look = func(node syntax.Node, multiplied bool) {
		syntax.Walk(node, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.BinaryCmd:
				if n.Op == syntax.Pipe || n.Op == syntax.PipeAll {
					look(n.X, true)
					look(n.Y, true)
					return false
				}
			case *syntax.Stmt:
				if n.Background && !multiplied && n.Cmd != nil {
					look(n.Cmd, true)
					return false
				}
			case *syntax.CallExpr:
				if multiplied && len(n.Args) > 0 {
					called := s.shallow().word(n.Args[0]).Text
					s.script.Bomb = s.script.Bomb || slices.ContainsFunc(names, func(l *syntax.Lit) bool { return l.Value == called })
				}
			}
			return true
		})
	}
	look(n.Body, false)
}

// declare is export, declare and the like.
func (s source) declare(n *syntax.DeclClause, ctx context) {
	words := []Word{{Text: n.Variant.Value, Known: true}}
	for _, a := range n.Args {
		s.assign(a, nil)
		if a.Name == nil && a.Value != nil { // export "A=b"
			s.assignments(s.words([]*syntax.Word{a.Value}))
		}
		words = append(words, Word{Text: s.sourceOf(a), Known: true})
	}
	s.add(Command{Words: words, Redirects: ctx.redirects})
}

// add lists a command.
func (s source) add(c Command) {
	if len(s.script.Commands) == MaxCommands {
		s.doubt("it has too many commands")
		s.full = true
		return
	}
	c.Dirs = s.dirs
	s.script.Commands = append(s.script.Commands, c)
}

// sourceOf is how a node is written.
func (s source) sourceOf(n syntax.Node) string {
	from, to := min(int(n.Pos().Offset()), len(s.text)), min(int(n.End().Offset()), len(s.text))
	if from >= to {
		return ""
	}
	return s.text[from:to]
}

// clip shortens what a doubt quotes.
func clip(text string) string {
	text = strings.Map(func(r rune) rune {
		if !unicode.IsGraphic(r) {
			return ' '
		}
		return r
	}, text)
	if runes := []rune(text); len(runes) > 60 {
		return string(runes[:60]) + "…"
	}
	return text
}
