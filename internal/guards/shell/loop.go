package shell

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxRounds bounds the rounds of a loop that are looked at one by one.
const maxRounds = 8

// loop goes through the rounds of for NAME in …, where all words are known, and nothing but the
// loop may give the variable a value. It reports whether it did.
func (s source) loop(n *syntax.ForClause, ctx context) bool {
	iter, ok := n.Loop.(*syntax.WordIter)
	if !ok || !iter.InPos.IsValid() || n.Select || len(iter.Items) == 0 || !s.only(iter.Name.Value) {
		return false
	}
	items := s.words(iter.Items)
	if len(iter.Items) == 1 && counts.MatchString(s.sourceOf(iter.Items[0])) {
		items = []Word{{Text: "1", Known: true}} // one number stands for all
	}
	inner := substitution(iter.Items[0])
	single := inner != nil && len(iter.Items) == 1 && iter.Items[0].Parts[0] == syntax.WordPart(inner) // each word is a round
	if single && !items[0].Known {
		return s.listed(iter.Name.Value, inner, n, ctx)
	}
	if len(items) == 0 || len(items) > maxRounds || slices.ContainsFunc(items, func(w Word) bool { return !w.Known }) {
		return false
	}
	s.walk(n.Loop, ctx) // what is in its words runs, too
	s.single[iter.Name.Value] = single
	s.rounds(iter.Name.Value, items, n.Do, ctx)
	delete(s.single, iter.Name.Value)
	return true
}

// listed is loop for NAME in $(ls *.go | head), where it is known which files' names a pipe brings.
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

// counts is a word that is numbers.
var counts = regexp.MustCompile(`^(\$\(seq( -w)?( \d+){1,3}\)|\{\d+\.\.\d+\})$`)

// reading is loop for while read NAME, where it is known which files' names are read.
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

// rounds runs the body of a loop once for each value of its variable.
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

// only reports whether a line gives a name a value once, and has it elsewhere only as $NAME and
// ${NAME}, or in a path: all else may give it a value, as may a function that runs later.
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

// maxNames bounds the variables that a line is searched for, since each search reads all of it.
const maxNames = 32

// setOnce is only for a name that was not looked for yet.
func (s source) setOnce(name string) bool {
	used := regexp.MustCompile(`\$` + name + `\b|\$\{` + name + `([%#]{1,2}[\w.*/-]+)?\}|/` + name + `\b`)
	rest := letterOption.ReplaceAllString(used.ReplaceAllString(s.bare, ""), "$1")
	named := regexp.MustCompile(`\b(-v)?` + name + `\b`)
	return len(named.FindAllString(rest, -1)) == 1 && !parted.MatchString(withoutSentences(rest)) && !evaluates.MatchString(rest)
}

// parted is a word that quotes part, so that it is not there: e”val.
var parted = regexp.MustCompile(`(^|\s)('\w+'|"\w+")\w|\w(''|""|'\w+'\w|"\w+"\w|\\\w)|\b(read|printf\s+-v|declare|typeset|local|mapfile|readarray|getopts|unset|let)\b(\s+-\w+)*(\s+\w+(=\S*)?)*\s+\w*['"\\$]`)

// withoutSentences is a line without the quoted texts that have blanks or more than letters: they are no
// part of a word.
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

// letterOption is an option such as -f, and the value of find's -type.
var letterOption = regexp.MustCompile(`([\s(])-(type\s+)?[A-Za-z]\b`)

// round is what the variable of a loop stands for. Without quotes, what has a blank or is a
// pattern may be several words.
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

// positional is $1 and the like of a script behind sh -c, where its line says what they are.
func (s source) positional(at int, quoted bool) (Word, bool) {
	if at < 0 || at >= len(s.arguments) || s.depth != s.argumentsDepth {
		return Word{}, false
	}
	w := s.arguments[at]
	parts := !quoted && !w.Deep && (w.Glob || strings.ContainsAny(w.Text, " \t\n*?[\\"))
	return w, w.Known && !w.Many && !parts
}
