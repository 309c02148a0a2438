package redact

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
)

// headers are the endings of names of HTTP headers whose values extend to the end of the line.
var headers = []string{"authorization", "cookie"}

// schemes are the words with which the value of an Authorization header begins.
var schemes = []string{"bearer", "basic", "digest", "token", "apikey", "negotiate", "ntlm", "aws4-hmac-sha256"}

// header finds the value of the header whose name ends with text[at:end].
func header(text []byte, at, end int) (from, to int) {
	value, how := separator(text, at, end)
	if how == 0 {
		return 0, 0
	}
	from, to, quote := quoted(text, value)
	is := isInHeader
	if !quote {
		from = value
		to = while(text[:min(len(text), from+scanned)], from, is)
	}
	head := text[from:to]
	word := head[:while(head, 0, isVisible)]
	rest := from + while(head, len(word), isSpace)
	known := slices.ContainsFunc(schemes, func(s string) bool { return strings.EqualFold(s, string(word)) })
	switch {
	case placeholder(head), known && placeholder(bytes.TrimSpace(text[rest:to])):
		return 0, 0
	case known:
		from = rest
	case quote, bytes.EqualFold(text[at:end], []byte("cookie")) && bytes.IndexByte(head, '=') >= 0:
	case len(word) < 8 || !bytes.ContainsFunc(word, isDecimal) || harmless(word, text[at:end]):
		return 0, 0
	default:
		to = from + len(word)
		is = isVisible
	}
	if quote {
		return from, literal(text, from, to)
	}
	return from, literal(text, from, members(text, from, while(text, to, is)))
}

// member matches a further part of a header's value, as in Cookie: a=1; b=2.
var member = regexp.MustCompile(`^ ?(?:[\w.-]+=\S*|HttpOnly|Secure|Partitioned)$`)

// members ends a header's value before a semicolon that does not separate parts of it: a command
// that follows must stay visible.
func members(text []byte, from, to int) int {
	for at := from; ; {
		next := bytes.IndexByte(text[at:to], ';')
		if next < 0 {
			return to
		}
		at += next
		end := to
		if more := bytes.IndexByte(text[at+1:to], ';'); more >= 0 {
			end = at + 1 + more
		}
		if text[at-1] == ' ' || !member.Match(text[at+1:end]) {
			return at
		}
		at++
	}
}

// isInHeader reports whether c may be part of an unquoted header value. A shell command that
// follows the value must stay visible.
func isInHeader(c byte) bool {
	return c >= ' ' && bytes.IndexByte([]byte("\"'`\\|&<>()"), c) < 0
}
