package shell

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxRounds is the maximum number of iterations of a loop that are analyzed one by one.
const maxRounds = 8

// loop analyzes each iteration of for NAME in … if all words are known and only the loop can set
// the variable. It reports whether it did.
func (s source) loop(n *syntax.ForClause, ctx context) bool {
	iter, ok := n.Loop.(*syntax.WordIter)
	if !ok || !iter.InPos.IsValid() || n.Select || len(iter.Items) == 0 || !s.only(iter.Name.Value) {
		return false
	}
	items := s.words(iter.Items)
	if len(iter.Items) == 1 && counts.MatchString(s.sourceOf(iter.Items[0])) {
		items = []Word{{Text: "1", Known: true}} // one number represents all
	}
	inner := substitution(iter.Items[0])
	single := inner != nil && len(iter.Items) == 1 && iter.Items[0].Parts[0] == syntax.WordPart(inner) // each word is one iteration
	if single && !items[0].Known {
		return s.listed(iter.Name.Value, inner, n, ctx)
	}
	if len(items) == 0 || len(items) > maxRounds || slices.ContainsFunc(items, func(w Word) bool { return !w.Known }) {
		return false
	}
	s.walk(n.Loop, ctx) // commands in the words run too
	s.single[iter.Name.Value] = single
	s.rounds(iter.Name.Value, items, n.Do, ctx)
	delete(s.single, iter.Name.Value)
	return true
}

// listed is loop for NAME in $(ls *.go | head), if it is known which file names the pipe prints.
func (s source) listed(name string, inner *syntax.CmdSubst, n *syntax.ForClause, ctx context) bool {
	before := len(s.script.Commands)
	s.walk(n.Loop, ctx)
	names := s.piped(s.script.Commands[before:]).names
	if len(inner.Stmts) != 1 || len(names) == 0 || len(names) > maxRounds {
		for _, stmt := range n.Do {
			s.stmt(stmt, ctx)
		}
		return true
	}
	s.single[name] = true
	s.rounds(name, names, n.Do, ctx)
	delete(s.single, name)
	return true
}

// counts matches a word that expands to numbers.
var counts = regexp.MustCompile(`^(\$\(seq( -w)?( \d+){1,3}\)|\{\d+\.\.\d+\})$`)

// reading is loop for while read NAME, if it is known which file names it reads.
func (s source) reading(n *syntax.WhileClause, ctx context) bool {
	if n.Until || len(n.Cond) != 1 || len(n.Cond[0].Redirs) > 0 || ctx.feed == nil || len(ctx.feed.names) == 0 || len(ctx.feed.names) > maxRounds {
		return false
	}
	call, ok := n.Cond[0].Cmd.(*syntax.CallExpr)
	if !ok || len(call.Assigns) > 1 || len(call.Assigns) == 1 && s.sourceOf(call.Assigns[0]) != "IFS=" {
		return false
	}
	words := s.words(call.Args)
	if len(words) == 3 && words[1].Text == "-r" {
		words = words[1:]
	}
	name := words[len(words)-1]
	if len(words) != 2 || words[0].Text != "read" && words[0].Text != "-r" || !name.plain() || !s.only(name.Text) {
		return false
	}
	s.stmt(n.Cond[0], ctx)
	s.rounds(name.Text, ctx.feed.names, n.Do, ctx)
	return true
}

// rounds analyzes the body of a loop once for each value of its variable.
func (s source) rounds(name string, items []Word, body []*syntax.Stmt, ctx context) {
	outside := s.values
	for _, item := range items {
		s.parser.values = maps.Clone(outside)
		s.values[name] = item
		for _, stmt := range body {
			s.stmt(stmt, ctx)
		}
	}
	s.parser.values = outside
}

// only reports whether a line sets a variable once, and otherwise mentions it only as $NAME or
// ${NAME} or in a path. Any other mention, and a function that runs later, might set it too.
func (s source) only(name string) bool {
	if s.depth > 0 || s.functions > 0 || s.declares {
		return false
	}
	once, looked := s.once[name]
	if !looked && len(s.once) < maxNames {
		once = s.setOnce(name)
		s.once[name] = once
	}
	return once
}

// maxNames is the maximum number of variables that a line is searched for. Each search reads the
// whole line.
const maxNames = 32

// setOnce is the uncached part of only.
func (s source) setOnce(name string) bool {
	used := regexp.MustCompile(`\$` + name + `\b|\$\{` + name + `([%#]{1,2}[\w.*/-]+)?\}|/` + name + `\b`)
	rest := letterOption.ReplaceAllString(used.ReplaceAllString(s.bare, ""), "$1")
	named := regexp.MustCompile(`\b(-v)?` + name + `\b`)
	return len(named.FindAllString(rest, -1)) == 1 && !parted.MatchString(withoutSentences(rest)) && !evaluates.MatchString(rest)
}

// parted matches a word with quotes inside, such as e"val, which hides a name or a command.
var parted = regexp.MustCompile(`(^|\s)('\w+'|"\w+")\w|\w(''|""|'\w+'\w|"\w+"\w|\\\w)|\b(read|printf\s+-v|declare|typeset|local|mapfile|readarray|getopts|unset|let)\b(\s+-\w+)*(\s+\w+(=\S*)?)*\s+\w*['"\\$]`)

// withoutSentences removes the quoted texts that contain blanks or punctuation, which cannot be
// part of a name.
func withoutSentences(line string) string {
	var b strings.Builder
	for i := 0; i < len(line); i++ {
		c := line[i]
		if c == '\\' && i+1 < len(line) {
			b.WriteString(line[i : i+2])
			i++
			continue
		}
		end := -1
		if c == '\'' || c == '"' {
			end = strings.IndexByte(line[i+1:], c)
		}
		switch {
		case end < 0:
			b.WriteByte(c)
			continue
		case wordOnly.MatchString(line[i+1 : i+1+end]):
			b.WriteString(line[i : i+2+end])
		}
		i += end + 1
	}
	return b.String()
}

var wordOnly = regexp.MustCompile(`^[\w=/$.\\]*$`)

var evaluates = regexp.MustCompile(`\beval\b`)

// letterOption matches an option such as -f, and the value of find's -type.
var letterOption = regexp.MustCompile(`([\s(])-(type\s+)?[A-Za-z]\b`)

// round returns the value of a tracked variable or parameter. If it is unquoted, a value with
// blanks or wildcards may be several words and is not returned.
func (s source) round(p *syntax.ParamExp, quoted bool) (Word, bool) {
	if p.Exp != nil {
		return s.trimmed(p, quoted)
	}
	name := plainName(p)
	if at, err := strconv.Atoi(name); err == nil {
		return s.positional(at, quoted)
	}
	w, ok := s.values[name]
	return w, ok && s.depth == 0 && (quoted || s.single[name] || !w.Known || !w.Glob && !strings.ContainsAny(w.Text, " \t\n*?[\\"))
}

// positional returns the value of $1 and the like in a script of sh -c, if its arguments are known.
func (s source) positional(at int, quoted bool) (Word, bool) {
	if at < 0 || at >= len(s.arguments) || s.depth != s.argumentsDepth {
		return Word{}, false
	}
	w := s.arguments[at]
	parts := !quoted && !w.Deep && (w.Glob || strings.ContainsAny(w.Text, " \t\n*?[\\"))
	return w, w.Known && !w.Many && !parts
}
