package shell

import (
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// survey collects facts about the outermost line as a whole. Here-documents are blanked out because
// they cannot set variables of the shell.
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

// maxConstants is the maximum number of variables of a line whose values are tracked.
const maxConstants = 16

// constants records the assignments that always run before the uses of the variable: those that are
// statements of the line, and those in a chain A && NAME=value && B that contains all uses.
func (s source) constants(file *syntax.File) {
	if strings.Contains(s.text, "IFS") {
		return
	}
	for _, stmt := range file.Stmts {
		s.constantsOf(stmt, stmt, true)
	}
}

// constantsOf is like constants, for a statement within another one. always is true if it runs
// whatever the preceding commands return.
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

// ofShell matches variables that the shell sets itself, or that change its behavior.
var ofShell = regexp.MustCompile(`^(BASH.*|COMP_.*|DIRSTACK|EPOCH\w+|EUID|FUNCNAME|GROUPS|HISTCMD|HOME|HOSTNAME|LINENO|OLDPWD|OPTARG|OPTIND|PATH|PIPESTATUS|PPID|PWD|RANDOM|REPLY|SECONDS|SHLVL|SRANDOM|UID|_)$`)

// keep remembers the value of a variable that is assigned only once.
func (s source) keep(a *syntax.Assign, value Word) {
	if s.depth > 0 || !s.constant[a.Pos().Offset()] || !s.only(a.Name.Value) {
		return
	}
	if made, ok := s.temporary(a.Value); ok {
		value = made
	}
	if substitution(a.Value) == nil && (!value.plain() || value.Many) { // uses are judged as if they were the substitution
		return
	}
	s.values[a.Name.Value] = value
}

// oneWord matches a value that is not split or expanded even if it is unquoted.
var oneWord = regexp.MustCompile(`^[\w./-]+$`)

// filled substitutes the known variables in a text that the line's own shell runs later.
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
