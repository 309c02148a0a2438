package shell

import (
	"maps"
	"regexp"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxRounds bounds the rounds of a loop that are looked at one by one.
const maxRounds = 8

// loop goes through the rounds of for NAME in …, where all words are known, and nothing but the
// loop may give the variable a value. It reports whether it did.
func (s source) loop(n *syntax.ForClause, ctx context) bool {
	iter, ok := n.Loop.(*syntax.WordIter)
	if !ok || !iter.InPos.IsValid() || n.Select || !s.only(iter.Name.Value) {
		return false
	}
	items := s.words(iter.Items)
	if len(items) == 0 || len(items) > maxRounds {
		return false
	}
	for _, item := range items {
		if !item.Known {
			return false
		}
	}
	s.walk(n.Loop, ctx) // what stands in its words runs, too
	outside := s.loops
	for _, item := range items {
		s.parser.loops = maps.Clone(outside)
		if s.loops == nil {
			s.parser.loops = map[string]Word{}
		}
		s.loops[iter.Name.Value] = item
		for _, stmt := range n.Do {
			s.stmt(stmt, ctx)
		}
	}
	s.parser.loops = outside
	return true
}

// only reports whether a line has a name once as the variable of a loop, and elsewhere only as
// $NAME and ${NAME}: all else may give it a value, as may a function that runs later.
func (s source) only(name string) bool {
	used := regexp.MustCompile(`\$` + name + `\b|\$\{` + name + `\}`)
	rest := used.ReplaceAllString(s.text, "")
	named := regexp.MustCompile(`\b` + name + `\b`)
	return s.depth == 0 && s.functions == 0 && len(named.FindAllString(rest, -1)) == 1 && !called.MatchString(rest) && !strings.Contains(rest, "function") && !strings.Contains(rest, "eval")
}

// called is what makes a function.
var called = regexp.MustCompile(`\(\s*\)`)

// round is what the variable of a loop stands for. Without quotes, what has a blank or is a
// pattern may be several words.
func (s source) round(p *syntax.ParamExp, quoted bool) (Word, bool) {
	if p.Param == nil || p.Excl || p.Length || p.Width || p.Index != nil || p.Slice != nil || p.Repl != nil || p.Exp != nil || p.Names != 0 {
		return Word{}, false
	}
	w, ok := s.loops[p.Param.Value]
	return w, ok && s.depth == 0 && (quoted || !w.Glob && !strings.ContainsAny(w.Text, " \t\n*?[\\"))
}
