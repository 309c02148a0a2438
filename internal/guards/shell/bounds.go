package shell

import (
	"slices"
	"unicode"

	"mvdan.cc/sh/v3/syntax"
)

// substitutions returns the nesting depth of substitutions, functions and the like in a file.
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

// hidden reports whether a character can make a line look different from what it is.
func hidden(r rune) bool {
	return r == unicode.ReplacementChar || unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Cf, r)
}

// nesting returns the maximum number of brackets that are open at once, including quoted ones.
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

// function looks for a function that calls itself in a pipe or in the background.
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
