package code

import (
	"regexp"
	"strings"
)

// token is an identifier (name), a string literal (text), a number, or another character.
type token struct {
	kind  byte // n, t, 0, or the character; . is that of a member, : is one half of ::
	value string
	plain bool // of a text: no escapes or interpolations; of a name: followed by a blank
}

// Kinds of tokens other than characters: the end of a line or statement, the beginning of an
// interpolation in a string literal, and two or more dots.
const (
	ends  = ';'
	field = 'f'
	dots  = 'r'
)

// syntax is the lexical grammar of a language.
type syntax struct {
	comments []string // beginnings of a comment up to the end of the line
	blocks   bool     // /* … */ is a comment
	quotes   string
	lines    bool            // a string literal may span lines
	fields   map[byte]string // beginning of an interpolation, by quote
	slash    func(l *lexer) slash
	special  func(l *lexer) bool // whether a special character is supported here; if nil, it is
	prefixes bool                // letters before a quote make another kind of literal
	names    *regexp.Regexp
	texts    func(l *lexer) bool // used instead of [lexer.text]
}

var (
	plainNames = regexp.MustCompile(`^[\p{L}_][\p{L}\p{N}_]*`)
	numbers    = regexp.MustCompile(`^(0[xXbBoO][0-9a-fA-F_]+|[0-9][0-9_]*(\.[0-9]+)?([eE][+-]?[0-9]+)?n?)`)
)

type lexer struct {
	*syntax
	code   string
	pos    int
	all    []token
	depth  int
	unsure bool // a slash on this line may begin a regular expression
}

func (s syntax) tokens(code string) ([]token, bool) {
	l := lexer{syntax: &s, code: code}
	ok := l.run(false)
	return l.all, ok
}

// run lexes up to the end of the code, or of an interpolation.
func (l *lexer) run(inField bool) bool {
	braces := 0
	if l.depth++; l.depth > 8 {
		return false
	}
	defer func() { l.depth-- }()
	for l.pos < len(l.code) {
		rest := l.code[l.pos:]
		c := rest[0]
		switch {
		case inField && c == '}' && braces == 0:
			l.pos++
			return true
		case c == ' ' || c == '\t':
			if n := len(l.all); n > 0 && l.all[n-1].kind == 'n' {
				l.all[n-1].plain = true
			}
			l.pos++
		case l.commented(rest):
			if !l.comment(rest) {
				return false
			}
		case strings.IndexByte(l.quotes, c) >= 0:
			read := l.text
			if l.texts != nil {
				read = func() bool { return l.syntax.texts(l) }
			}
			if !read() {
				return false
			}
		case l.names.MatchString(rest):
			l.add(token{kind: 'n', value: l.names.FindString(rest)})
		case numbers.MatchString(rest):
			l.add(token{kind: '0', value: numbers.FindString(rest)})
		case strings.HasPrefix(rest, ".."):
			l.add(token{kind: dots, value: rest[:len(rest)-len(strings.TrimLeft(rest, "."))]})
		case c == '/' && l.slash != nil:
			if !l.divides() {
				return false
			}
		case c == '\\' || c == '`' || c >= 0x80:
			return false
		case l.special != nil && !l.special(l):
			return false
		default:
			switch c {
			case '{':
				braces++
			case '}':
				braces--
			case '\n':
				l.unsure = false
			}
			kind := c
			if c == '\n' {
				kind = ends
			}
			l.add(token{kind: kind, value: rest[:1]})
		}
	}
	return !inField
}

// add adds a token whose value is its source.
func (l *lexer) add(t token) {
	l.all = append(l.all, t)
	l.pos += len(t.value)
}

func (l *lexer) last() token {
	if len(l.all) == 0 {
		return token{kind: ends, value: ";"}
	}
	return l.all[len(l.all)-1]
}

func (l *lexer) commented(rest string) bool {
	for _, begin := range l.comments {
		if strings.HasPrefix(rest, begin) {
			return true
		}
	}
	return l.blocks && strings.HasPrefix(rest, "/*")
}

func (l *lexer) comment(rest string) bool {
	if l.blocks && strings.HasPrefix(rest, "/*") {
		end := strings.Index(rest[2:], "*/")
		l.pos += end + 4
		return end >= 0
	}
	if end := strings.IndexByte(rest, '\n'); end >= 0 {
		l.pos += end
	} else {
		l.pos = len(l.code)
	}
	return true
}

// text lexes a string literal, followed by the tokens of its interpolations.
func (l *lexer) text() bool {
	quote := l.code[l.pos]
	if before := l.last(); l.prefixes && before.kind == 'n' && !before.plain {
		return false
	}
	begin, at := l.fields[quote], len(l.all)
	l.all = append(l.all, token{kind: 't', plain: true})
	start := l.pos + 1
	for l.pos++; l.pos < len(l.code); {
		switch c := l.code[l.pos]; {
		case c == '\\':
			l.all[at].plain = false
			l.pos += 2
		case c == quote:
			l.all[at].value = l.code[start:l.pos]
			l.pos++
			return !l.unsure || !strings.Contains(l.all[at].value, "/")
		case c == '\n' && !l.lines && quote != '`':
			return false
		case begin != "" && strings.HasPrefix(l.code[l.pos:], begin):
			l.all[at].plain = false
			l.all = append(l.all, token{kind: field})
			l.pos += len(begin)
			unsure := l.unsure
			if !l.run(true) {
				return false
			}
			l.unsure = l.unsure || unsure
		default:
			l.pos++
		}
	}
	return false
}

// slash is the meaning of a slash: a division, or the beginning of a regular expression.
type slash int

const (
	unclear slash = iota
	division
	pattern
)

// divides lexes a division or a regular expression.
func (l *lexer) divides() bool {
	switch l.slash(l) {
	case division:
		l.unsure = l.unsure || l.last().kind == ')'
		l.add(token{kind: '/', value: "/"})
		return true
	case pattern:
		inClass := false
		for at := l.pos + 1; at < len(l.code); at++ {
			switch c := l.code[at]; {
			case c == '\n', strings.HasPrefix(l.code[at:], "#{"):
				return false
			case c == '\\':
				at++
			case c == '[' || c == ']':
				inClass = c == '['
			case c == '/' && !inClass:
				l.add(token{kind: 't', value: l.code[l.pos : at+1]})
				for l.pos < len(l.code) && l.code[l.pos] >= 'a' && l.code[l.pos] <= 'z' {
					l.pos++
				}
				return true
			}
		}
	}
	return false
}
