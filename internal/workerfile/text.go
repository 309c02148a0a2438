package workerfile

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/goccy/go-yaml/token"
)

// readText checks that a file is text. It returns the text with "\n" as line ends and without a
// byte order mark.
func (d *document) readText(source []byte) ([]byte, error) {
	if isUTF16(source) {
		return nil, d.errorIn(1, 1, "", errors.New("the file is in UTF-16, as editors on Windows save it: save it as UTF-8"))
	}
	source = bytes.TrimPrefix(source, []byte("\ufeff"))
	source = bytes.ReplaceAll(source, []byte("\r\n"), []byte("\n"))
	source = bytes.ReplaceAll(source, []byte("\r"), []byte("\n"))
	d.lines = strings.Split(string(source), "\n")
	for i, line := range d.lines {
		column := 1
		for j, r := range line {
			switch {
			case r == utf8.RuneError && !strings.HasPrefix(line[j:], "\ufffd"):
				return nil, d.errorIn(i+1, column, "", fmt.Errorf("the byte %02x is not UTF-8: save the file as UTF-8", line[j]))
			case unicode.IsControl(r) && r != '\t' && r != '\u0085':
				return nil, d.errorIn(i+1, column, "", fmt.Errorf(`the character U+%04X can't stand in YAML: remove it, or write it "\u%04x" in double quotes`, r, r))
			}
			column++
		}
	}
	return source, nil
}

// isUTF16 reports whether a file begins with a UTF-16 byte order mark, or with a character in
// UTF-16.
func isUTF16(source []byte) bool {
	return bytes.HasPrefix(source, []byte{0xff, 0xfe}) || bytes.HasPrefix(source, []byte{0xfe, 0xff}) ||
		len(source) > 1 && (source[0] == 0) != (source[1] == 0)
}

// within returns the file position of a position in a text. It follows the text through the source
// letter by letter, however YAML wrapped and escaped it. If the two differ, it returns the place of
// the text.
func (d *document) within(p place, line, column int) (fileLine, fileColumn int) {
	before := textBefore(p.text, line, column)
	s := scanner{lines: d.lines, line: p.line, column: p.column, style: p.style}
	switch p.style {
	case token.LiteralType, token.FoldedType: // the text begins on the next line
		s.line, s.column = p.line+1, 1
	case token.SingleQuoteType, token.DoubleQuoteType:
		s.column++
	}
	for _, want := range before {
		if unicode.IsSpace(want) {
			continue
		}
		if got, ok := s.next(); !ok || got != want {
			return p.line, p.column
		}
	}
	if at := textAt(p.text, len(before)); at == 0 || unicode.IsSpace(at) {
		return s.line, s.column // after the last letter
	}
	if !s.skip() {
		return p.line, p.column
	}
	return s.line, s.column
}

// textBefore returns the text before a position.
func textBefore(text string, line, column int) string {
	rest := text
	for ; line > 1; line-- {
		_, after, found := strings.Cut(rest, "\n")
		if !found {
			return text
		}
		rest = after
	}
	return text[:len(text)-len(rest)+byteOffset(rest, column-1)]
}

// textAt returns the character at a byte offset of a text, or 0 at its end.
func textAt(text string, offset int) rune {
	if offset >= len(text) {
		return 0
	}
	r, _ := utf8.DecodeRuneInString(text[offset:])
	return r
}

// byteOffset returns the index of the byte at which the nth character of s begins.
func byteOffset(s string, n int) int {
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}

// scanner reads the letters of a text from its source, and skips white space.
type scanner struct {
	lines        []string
	line, column int
	style        token.Type
}

// rest returns the rest of the line.
func (s *scanner) rest() string {
	text := s.lines[s.line-1]
	return text[byteOffset(text, s.column-1):]
}

// skip moves to the next letter and reports whether there is one.
func (s *scanner) skip() bool {
	for s.line <= len(s.lines) {
		rest := s.rest()
		for _, r := range rest {
			if !unicode.IsSpace(r) {
				break
			}
			s.column++
		}
		rest = strings.TrimLeftFunc(rest, unicode.IsSpace)
		if rest == `\` && s.style == token.DoubleQuoteType { // the line continues on the next one
			rest = ""
		}
		if rest != "" {
			return true
		}
		s.line, s.column = s.line+1, 1
	}
	return false
}

// next reads one letter.
func (s *scanner) next() (rune, bool) {
	for s.skip() {
		rest := s.rest()
		value, length := textAt(rest, 0), 1
		switch {
		case s.style == token.SingleQuoteType && strings.HasPrefix(rest, "''"):
			length = 2
		case s.style == token.DoubleQuoteType && value == '\\':
			value, length = unescape(rest)
		}
		s.column += length
		if !unicode.IsSpace(value) {
			return value, true
		}
	}
	return 0, false
}

// unescape decodes an escape of a double-quoted text and returns its length. White space becomes a
// blank.
func unescape(rest string) (value rune, length int) {
	letter := textAt(rest, 1)
	digits, isNumber := map[rune]int{'x': 2, 'u': 4, 'U': 8}[letter]
	if isNumber && len(rest) >= 2+digits {
		_, err := fmt.Sscanf(rest[2:2+digits], "%x", &value)
		if err == nil {
			return value, 2 + digits
		}
	}
	if special, ok := map[rune]rune{'0': 0, 'a': '\a', 'b': '\b', 'e': '\x1b', 'n': ' ', 't': ' ', 'r': ' ', 'v': ' ', 'f': ' ', 'N': ' ', '_': ' ', 'L': ' ', 'P': ' '}[letter]; ok {
		return special, 2
	}
	return letter, 2
}
