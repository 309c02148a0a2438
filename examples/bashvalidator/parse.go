package bashvalidator

import (
	"errors"
	"strings"
)

// maxNesting is how deep scripts within scripts are read.
const maxNesting = 16

var errTooDeep = errors.New("scripts nest too deep to be judged")

// command is one simple command of a script.
type command struct {
	words  []string // without their quotes
	writes []string // files that its output goes to
	input  string   // a here document or here string
}

// parse splits a script, which is nesting levels deep in others, into its simple
// commands, those of command substitutions before the command they are in. It
// knows as much of the shell's grammar as it takes to find words; what is not
// closed ends with the script.
func parse(script string, nesting int) ([]*command, error) {
	p := parser{src: script, nesting: nesting, current: &command{}}
	err := p.run()
	return p.commands, err
}

type parser struct {
	src     string
	pos     int
	nesting int
	err     error

	inside bool // a ")" of its own ends the script: it stands in $(...)
	parens int  // open "(" that are not the end of it
	done   bool

	word     strings.Builder
	inWord   bool   // a word has begun, maybe with an empty quote
	quoted   bool   // and is quoted somewhere
	redirect string // the operator that the next word is for, "" for none

	current  *command
	commands []*command
	pending  []hereDoc // begun in this line; the text follows it
}

func (p *parser) run() error {
	if p.nesting > maxNesting {
		return errTooDeep
	}
	for p.pos < len(p.src) && !p.done && p.err == nil {
		p.next()
	}
	p.endCommand()
	return p.err
}

// next reads one character, or what belongs together with it.
func (p *parser) next() {
	c := p.src[p.pos]
	p.pos++
	switch c {
	case ' ', '\t', '\r':
		p.endWord()
	case '\n':
		p.endCommand()
		p.hereDocs()
	case ';', '&', '|':
		p.endCommand()
	case '(':
		p.endCommand()
		p.parens++
	case ')':
		p.endCommand()
		p.done = p.inside && p.parens == 0
		p.parens = max(p.parens-1, 0)
	case '#':
		if p.inWord {
			p.add('#')
		} else if i := strings.IndexByte(p.src[p.pos:], '\n'); i >= 0 {
			p.pos += i
		} else {
			p.pos = len(p.src)
		}
	case '\\':
		p.escaped()
	case '\'':
		p.inWord, p.quoted = true, true
		p.word.WriteString(p.until('\''))
	case '"':
		p.inWord, p.quoted = true, true
		p.doubleQuoted()
	case '$':
		p.dollar()
	case '`':
		p.backquoted()
	case '<', '>':
		p.redirection()
	default:
		p.add(c)
	}
}

func (p *parser) add(c byte) {
	p.inWord = true
	p.word.WriteByte(c)
}

// until returns what stands before the next end, and goes behind it.
func (p *parser) until(end byte) string {
	text, _, _ := strings.Cut(p.src[p.pos:], string(end))
	p.pos = min(p.pos+len(text)+1, len(p.src))
	return text
}

func (p *parser) escaped() {
	if p.pos == len(p.src) {
		return
	}
	if c := p.src[p.pos]; c != '\n' { // a line goes on behind backslash and line break
		p.quoted = true
		p.add(c)
	}
	p.pos++
}

func (p *parser) doubleQuoted() {
	for p.pos < len(p.src) && p.err == nil {
		c := p.src[p.pos]
		p.pos++
		switch {
		case c == '"':
			return
		case c == '\\':
			p.escaped()
		case c == '`':
			p.backquoted()
		case c != '$' || !p.substitution():
			p.add(c)
		}
	}
}

// dollar reads what follows a dollar outside of quotes.
func (p *parser) dollar() {
	rest := p.src[p.pos:]
	switch {
	case p.substitution():
	case strings.HasPrefix(rest, "{IFS}"): // a space in disguise
		p.pos += len("{IFS}")
		p.endWord()
	case strings.HasPrefix(rest, "IFS") && (len(rest) == 3 || !isNameByte(rest[3])):
		p.pos += len("IFS")
		p.endWord()
	case strings.HasPrefix(rest, "'") || strings.HasPrefix(rest, `"`): // a quote with escapes
	default:
		p.add('$')
	}
}

// substitution reads $(...), whose dollar is read already.
func (p *parser) substitution() bool {
	if p.pos == len(p.src) || p.src[p.pos] != '(' {
		return false
	}
	p.inWord = true
	sub := parser{src: p.src, pos: p.pos + 1, nesting: p.nesting + 1, inside: true, current: &command{}}
	p.err = sub.run()
	p.pos = sub.pos
	p.commands = append(p.commands, sub.commands...)
	return true
}

func (p *parser) backquoted() {
	p.inWord = true
	commands, err := parse(p.until('`'), p.nesting+1)
	p.commands, p.err = append(p.commands, commands...), err
}

func (p *parser) endWord() {
	if !p.inWord {
		return
	}
	word := p.word.String()
	switch {
	case p.redirect == "":
		p.current.words = append(p.current.words, word)
	case p.redirect == "<<" || p.redirect == "<<-":
		p.pending = append(p.pending, hereDoc{to: p.current, end: word, indent: p.redirect == "<<-", literal: p.quoted})
	case p.redirect == "<<<":
		p.current.input = word
	case strings.Contains(p.redirect, ">"):
		p.current.writes = append(p.current.writes, word)
	}
	p.word.Reset()
	p.inWord, p.quoted, p.redirect = false, false, ""
}

func (p *parser) endCommand() {
	p.endWord()
	p.redirect = ""
	if len(p.current.words)+len(p.current.writes) > 0 {
		p.commands = append(p.commands, p.current)
	}
	p.current = &command{}
}

func isNameByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
