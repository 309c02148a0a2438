package shell

import (
	"path"
	"regexp"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// literalPattern matches a pattern of ${NAME%…} without special characters.
var literalPattern = regexp.MustCompile(`^[\w.-]+$`)

// trimmed returns the value of an expansion such as ${NAME%…} of a known variable.
func (s source) trimmed(p *syntax.ParamExp, quoted bool) (Word, bool) {
	whole := *p
	whole.Exp = nil
	w, ok := s.values[plainName(&whole)]
	if !ok || s.depth > 0 || !quoted {
		return Word{}, false
	}
	return s.cut(w, p.Exp)
}

// cut returns a word without what ${NAME%.js}, ${NAME#old_}, ${NAME%.*} or ${NAME##*/} removes. It
// fails if the removed part may be matched by a wildcard.
func (s source) cut(w Word, by *syntax.Expansion) (Word, bool) {
	if by.Word == nil || !w.Known || w.Many || w.Deep || strings.ContainsAny(w.Text, "[{\\") {
		return Word{}, false
	}
	pattern := s.sourceOf(by.Word)
	text, found := w.Text, false
	switch {
	case literalPattern.MatchString(pattern) && (by.Op == syntax.RemSmallSuffix || by.Op == syntax.RemLargeSuffix):
		text, found = strings.CutSuffix(w.Text, pattern)
	case literalPattern.MatchString(pattern) && (by.Op == syntax.RemSmallPrefix || by.Op == syntax.RemLargePrefix):
		text, found = strings.CutPrefix(w.Text, pattern)
	case pattern == ".*" && by.Op == syntax.RemSmallSuffix:
		end := path.Ext(w.Text)
		text, found = strings.CutSuffix(w.Text, end)
		found = found && len(end) > 1 && literalPattern.MatchString(end)
	case pattern == "*/" && by.Op == syntax.RemLargePrefix:
		text, found = path.Base(w.Text), !strings.HasSuffix(w.Text, "/")
	}
	w.Text, w.Glob = text, w.Glob && hasGlob(text)
	return w, found && strings.Trim(text, "./") != ""
}
