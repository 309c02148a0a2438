package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxAlias is the maximum length of an alias that is expanded in place of its name, in bytes.
const maxAlias = 256

// alias records the aliases that a command defines, and lists their values as if they ran.
func (s source) alias(c *Command, ctx context) {
	for _, w := range c.Args() {
		name, value, found := strings.Cut(w.Text, "=")
		if !found && w.Known {
			continue
		}
		w.Text = value
		s.joined(c, []Word{w}, ctx)
		s.aliases[name] = value
	}
}

// runAlias runs the value of the alias that a command names, with the command's arguments. Only
// some shells expand aliases, so the command is listed with both meanings.
func (s source) runAlias(c *Command, ctx context, depth int) {
	name := c.Words[0].Text
	value, found := s.aliases[name]
	if !found || depth > MaxDepth {
		return
	}
	words, ok := s.simple(value)
	switch {
	case ok:
		delete(s.aliases, name) // a name in its own alias is not expanded
		s.runWithin(slices.Concat(words, c.Args()), ctx, depth+1)
		s.aliases[name] = value
	case len(c.Args()) > 0 || ctx.feed != nil:
		c.doubt("what the alias " + clip(name) + " makes of its arguments is not read here")
	}
}

// simple returns the words of a text that consists of one simple command.
func (s source) simple(text string) (words []Word, ok bool) {
	if len(text) > maxAlias {
		return nil, false
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil || len(file.Stmts) != 1 {
		return nil, false
	}
	stmt := file.Stmts[0]
	call, is := stmt.Cmd.(*syntax.CallExpr)
	if !is || stmt.Negated || stmt.Background || len(stmt.Redirs) > 0 || len(call.Assigns) > 0 {
		return nil, false
	}
	return source{s.parser, text, s.depth, s.plain}.words(call.Args), true
}
