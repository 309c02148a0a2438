package shell

import (
	"slices"
	"strings"
	"unicode"

	"mvdan.cc/sh/v3/syntax"

	"github.com/hookrouter/hookrouter/internal/shorten"
)

// Parse returns what a line runs in the directory cwd, which is empty if it is unknown. It never
// fails: what it cannot parse becomes a doubt.
func Parse(line, cwd string) Script {
	p := newParser(cwd)
	p.line(line, 0, context{})
	for name, makers := range p.files.ran { // in a loop or a function, it may run after it was written
		if len(p.files.by[name]) > makers {
			p.doubt("it runs a file that the same line makes: " + clip(name))
		}
	}
	for name := range p.files.by {
		if p.files.scripts && scriptEnd.MatchString(name) {
			p.doubt("it may run a file that the same line makes: " + clip(name))
		}
	}
	p.script.Ends = p.dirs
	return p.script
}

// parser collects the commands that a line runs.
type parser struct {
	script         Script
	dirs           []string          // where the next command may run; nil if unknown
	functions      int               // number of functions so far
	full           bool              // MaxCommands is reached
	files          files             // files that were created
	aliases        map[string]string // values of aliases, by name
	values         map[string]Word   // known values of variables: of a loop in this iteration, and of those set once
	once           map[string]bool   // cached results of [source.only], by name
	single         map[string]bool   // variables whose values have no blanks
	arguments      []Word            // arguments of the sh -c script that is read
	argumentsDepth int               // depth of that script
	constant       map[uint]bool     // assignments that always run, by offset
	bare           string            // the outermost line without here-documents
	declares       bool              // it defines functions
	temporaries    map[string]bool   // cached results of [source.keepsTemporary], by text
	defined        map[string]uint   // functions that the line always defines, by the offset of their end
}

func newParser(cwd string) *parser {
	return &parser{
		dirs: []string{cwd}, files: newFiles(), aliases: map[string]string{}, values: map[string]Word{}, once: map[string]bool{},
		single: map[string]bool{}, constant: map[uint]bool{}, defined: map[string]uint{}, temporaries: map[string]bool{},
	}
}

// context is the surroundings of a command.
type context struct {
	feed      *feed
	redirects []Redirect
	assigns   []Assign
	function  bool // the name is that of a function defined by the line
	mixed     bool // standard output includes standard error
}

// source is a line that is being read.
type source struct {
	*parser
	text  string
	depth int
	plain bool // don't collect the commands within words
}

// shallow returns the source for reading words without the commands in them.
func (s source) shallow() source {
	s.plain = true
	return s
}

func (p *parser) doubt(d string) { p.script.Doubts = withDoubt(p.script.Doubts, d) }

func withDoubt(all []Doubt, d string) []Doubt {
	if slices.Contains(all, Doubt(d)) {
		return all
	}
	return append(all, Doubt(d))
}

// line analyzes a line at a nesting depth.
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
	carriage := strings.Contains(text, "\r") // bash does not treat it as part of a line break
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if carriage || strings.ContainsFunc(text, hidden) {
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
		s := source{p, text, depth, false}
		if depth == 0 {
			s.survey(file)
		}
		if depth == 0 && !strings.Contains(text, "unset") {
			p.defines(file)
			s.constants(file)
		}
		s.walk(file, ctx)
	}
}

// defines records the functions that a line always defines.
func (p *parser) defines(file *syntax.File) {
	for _, stmt := range file.Stmts {
		if f, is := stmt.Cmd.(*syntax.FuncDecl); is && f.Name != nil && !stmt.Background && !stmt.Coprocess {
			p.defined[f.Name.Value] = f.End().Offset()
		}
	}
}

// walk analyzes a part of the syntax tree.
func (s source) walk(node syntax.Node, ctx context) {
	syntax.Walk(node, func(n syntax.Node) bool {
		if s.full {
			return false
		}
		if name := assignedName(n); name != "" {
			s.setVariable(name, ctx)
		}
		switch n := n.(type) {
		case *syntax.Stmt:
			s.stmt(n, ctx)
			return false
		case *syntax.BinaryCmd:
			if n.Op != syntax.Pipe && n.Op != syntax.PipeAll {
				return true
			}
			s.pipe(n, ctx)
			return false
		case *syntax.ForClause:
			return !s.loop(n, ctx)
		case *syntax.WhileClause:
			return !s.reading(n, ctx)
		case *syntax.CoprocClause:
			s.stmt(n.Stmt, context{feed: &feed{of: "what is written to it"}})
			return false
		case *syntax.FuncDecl:
			s.function(n)
		case *syntax.ParamExp:
			if n.Exp != nil && n.Exp.Op == syntax.OtherParamOps && n.Exp.Word != nil && n.Exp.Word.Lit() == "P" {
				s.doubt("bash runs what stands in the value: " + clip(s.sourceOf(n)))
			}
		case *syntax.ProcSubst:
			if n.Op == syntax.CmdOut && ctx.feed == nil { // a command is given the file name and writes to it
				for _, inner := range n.Stmts {
					s.stmt(inner, context{feed: &feed{of: "what is written to it"}})
				}
				return false
			}
		case *syntax.LetClause, *syntax.TestClause, *syntax.ArithmCmd, *syntax.ArithmExp:
			s.doubtEvaluated([]Word{{Text: s.sourceOf(n)}})
		case *syntax.DeclClause:
			s.declare(n, ctx)
		case *syntax.CallExpr:
			s.call(n, ctx)
		}
		return true
	})
}

// pipe analyzes both sides of a pipe.
func (s source) pipe(n *syntax.BinaryCmd, ctx context) {
	before := len(s.script.Commands)
	s.walk(n.X, ctx)
	ctx.feed = s.piped(s.script.Commands[before:])
	if n.Op == syntax.PipeAll { // standard error or traces may be mixed in
		ctx.feed.known, ctx.feed.text = false, ""
	}
	s.walk(n.Y, ctx)
}

// call analyzes a simple command, or assignments without one.
func (s source) call(n *syntax.CallExpr, ctx context) {
	words := s.words(n.Args)
	var assigns []Assign
	for _, a := range n.Assigns {
		assigns = append(assigns, s.assign(a, words))
	}
	if len(words) == 0 {
		s.addAssignments(assigns, ctx)
		return
	}
	if s.evaluatesSetup(n) {
		return
	}
	ctx.assigns = assigns
	end, defined := s.defined[words[0].Text]
	ctx.function = defined && s.depth == 0 && n.Pos().Offset() > end
	s.run(words, ctx)
}

// stmt analyzes a command with its redirections.
func (s source) stmt(n *syntax.Stmt, ctx context) {
	ctx.redirects = slices.Clone(ctx.redirects)
	for _, r := range n.Redirs {
		if name := assignedName(r); name != "" {
			s.setVariable(name, ctx)
		}
		s.redirect(r, &ctx)
	}
	if call, is := n.Cmd.(*syntax.CallExpr); is && len(call.Args) == 1 && call.Args[0].Lit() == "exec" && ctx.feed != nil && len(n.Redirs) > 0 {
		s.doubt("exec changes what the commands behind it read")
	}
	before := len(s.script.Commands)
	if n.Cmd != nil {
		s.walk(n.Cmd, ctx)
	}
	if len(n.Redirs) > 0 && len(s.script.Commands) == before { // > x, and x=1 > y
		s.add(Command{Redirects: ctx.redirects}, ctx)
	}
	written := s.script.Commands[before:]
	for _, r := range n.Redirs {
		if writes(r) {
			s.walk(r.Word, context{feed: s.piped(written)})
		}
	}
}

// add lists a command.
func (s source) add(c Command, ctx context) {
	if len(s.script.Commands) == MaxCommands {
		s.doubt("it has too many commands")
		s.full = true
		return
	}
	c.Dirs = s.dirs
	c.Foreign = s.files.foreign(c)
	if s.functions == 0 && len(s.aliases) == 0 { // names are not redefined
		s.files.write(c, ctx.feed)
		if ctx.mixed || s.declares {
			clear(s.files.texts)
		}
	}
	s.files.note(c, ctx.feed)
	s.script.Commands = append(s.script.Commands, c)
}

// sourceOf returns the source text of a node.
func (s source) sourceOf(n syntax.Node) string {
	from, to := min(int(n.Pos().Offset()), len(s.text)), min(int(n.End().Offset()), len(s.text))
	if from >= to {
		return ""
	}
	return s.text[from:to]
}

// clip shortens a quotation in a doubt.
func clip(text string) string {
	text = strings.Map(func(r rune) rune {
		if !unicode.IsGraphic(r) {
			return ' '
		}
		return r
	}, text)
	return shorten.Runes(text, 60, "…")
}
