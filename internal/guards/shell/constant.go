package shell

import (
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// survey notes what is asked about the outermost line as a whole. What is in a here-document
// gives no variable of the shell a value.
func (s source) survey(file *syntax.File) {
	bare := []byte(s.text)
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.FuncDecl:
			s.parser.declares = true
		case *syntax.Redirect:
			if n.Hdoc != nil {
				for i := n.Hdoc.Pos().Offset(); i < min(n.Hdoc.End().Offset(), uint(len(bare))); i++ {
					bare[i] = ' '
				}
			}
		}
		return true
	})
	s.parser.bare = string(bare)
}

// maxConstants bounds the variables of a line whose value is looked at.
const maxConstants = 16

// constants notes the assignments of a line that certainly happen before what uses them: those of
// its statements, and those of a chain A && NAME=value && B whose uses are all in the chain.
func (s source) constants(file *syntax.File) {
	if strings.Contains(s.text, "IFS") {
		return
	}
	for _, stmt := range file.Stmts {
		s.constantsOf(stmt, stmt, true)
	}
}

// constantsOf is constants of a statement within another one; always says that it runs whatever
// happens before it.
func (s source) constantsOf(stmt, within *syntax.Stmt, always bool) {
	if stmt.Background || stmt.Coprocess || len(stmt.Redirs) > 0 {
		return
	}
	var assigns []*syntax.Assign
	switch cmd := stmt.Cmd.(type) {
	case *syntax.BinaryCmd:
		if cmd.Op == syntax.AndStmt || cmd.Op == syntax.OrStmt {
			s.constantsOf(cmd.X, within, always)
		}
		if cmd.Op == syntax.AndStmt {
			s.constantsOf(cmd.Y, within, false)
		}
	case *syntax.CallExpr:
		if len(cmd.Args) == 0 {
			assigns = cmd.Assigns
		}
	case *syntax.DeclClause:
		if !slices.ContainsFunc(cmd.Args, func(a *syntax.Assign) bool { return a.Naked || a.Name == nil }) {
			assigns = cmd.Args
		}
	}
	for _, a := range assigns {
		if len(s.constant) == maxConstants {
			return
		}
		if a.Append || a.Index != nil || a.Value == nil || ofShell.MatchString(a.Name.Value) {
			continue
		}
		if !always {
			uses := regexp.MustCompile(`\$\{?` + a.Name.Value + `\b`)
			if uses.MatchString(s.text[:within.Pos().Offset()]) || uses.MatchString(s.text[min(int(within.End().Offset()), len(s.text)):]) {
				continue
			}
		}
		s.constant[a.Pos().Offset()] = true
	}
}

// ofShell are names whose value the shell makes itself, or that change what it does.
var ofShell = regexp.MustCompile(`^(BASH.*|COMP_.*|DIRSTACK|EPOCH\w+|EUID|FUNCNAME|GROUPS|HISTCMD|HOME|HOSTNAME|LINENO|OLDPWD|OPTARG|OPTIND|PATH|PIPESTATUS|PPID|PWD|RANDOM|REPLY|SECONDS|SHLVL|SRANDOM|UID|_)$`)

// keep remembers the value of a variable that has no other one.
func (s source) keep(a *syntax.Assign, value Word) {
	if s.depth > 0 || !s.constant[a.Pos().Offset()] || !s.only(a.Name.Value) {
		return
	}
	if made, ok := s.temporary(a.Value); ok {
		value = made
	}
	if substitution(a.Value) == nil && (!value.plain() || value.Many) { // what is given the variable is judged as if it were given the command
		return
	}
	s.values[a.Name.Value] = value
}

// oneWord is a value that stays one word of a line wherever it stands.
var oneWord = regexp.MustCompile(`^[\w./-]+$`)

// filled is a text that the line's own shell will run, with the values of its variables.
func (s source) filled(text string) string {
	if s.depth > 0 {
		return text
	}
	for name, value := range s.values {
		if value.plain() && oneWord.MatchString(value.Text) {
			text = regexp.MustCompile(`\$`+name+`\b|\$\{`+name+`\}`).ReplaceAllLiteralString(text, value.Text)
		}
	}
	return text
}
