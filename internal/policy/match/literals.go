package match

import (
	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
)

// Word is a string literal in an expression.
type Word struct {
	Line, Column int // its position, both from 1, the column in characters
	Text         string
}

// EventNames returns the literals that the expression compares event with, by ==, != or in, in the
// order of the expression. A comparison with a misspelled one never matches.
func (p *Program) EventNames() []Word { return p.expr.eventNames }

// Bare reports whether the condition consists only of a member of data, such as data.tool_name,
// which fails unless that member is true or false.
func (p *Program) Bare() bool { return p.expr.bare }

// eventNames returns the literals that event is compared with.
func eventNames(a *ast.AST) (names []Word) {
	eachWord(a, func(event, word ast.NavigableExpr, text string) {
		if event.Kind() == ast.IdentKind && event.AsIdent() == "event" {
			at := a.SourceInfo().GetStartLocation(word.ID())
			names = append(names, Word{at.Line(), at.Column() + 1, text})
		}
	})
	return names
}

// eachWord calls look with each string literal that an expression compares something with, by ==,
// != or in, and with the other operand.
func eachWord(a *ast.AST, look func(with, word ast.NavigableExpr, text string)) {
	compare := func(with, word ast.NavigableExpr) {
		if word.Kind() != ast.LiteralKind {
			return
		}
		if text, ok := word.AsLiteral().(types.String); ok {
			look(with, word, string(text))
		}
	}
	for _, call := range ast.MatchDescendants(ast.NavigateAST(a), ast.KindMatcher(ast.CallKind)) {
		args := call.Children()
		switch call.AsCall().FunctionName() {
		case operators.Equals, operators.NotEquals:
			compare(args[0], args[1])
			compare(args[1], args[0])
		case operators.In:
			for _, word := range args[1].Children() {
				compare(args[0], word)
			}
		}
	}
}

// isBare reports whether an expression consists only of a member of data.
func isBare(a *ast.AST) bool {
	root := a.Expr()
	selects := root.Kind() == ast.SelectKind && !root.AsSelect().IsTestOnly() ||
		root.Kind() == ast.CallKind && root.AsCall().FunctionName() == operators.Index
	return selects && a.GetType(root.ID()).IsExactType(cel.DynType)
}
