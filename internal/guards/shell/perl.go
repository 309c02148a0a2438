package shell

import (
	"regexp"
	"strings"
)

var (
	// perlParts matches a replacement of text by text, with / or braces, at the beginning of the
	// code.
	perlParts = regexp.MustCompile(`^\s*(?:s/((?:\\.|[^/\\])*)/((?:\\.|[^/\\])*)/([gimsx]*)|s\{((?:\\.|[^{}\\])*)\}\{((?:\\.|[^{}\\])*)\}([gimsx]*))\s*(?:;|$)`)
	// perlRuns matches constructs that run code within a text: @{[ ]}, $h{ }, (?{ }).
	perlRuns = regexp.MustCompile(`(^|[^\\])(@|\$\w*[{\[])|->|\(\?+\??\{`)
	// perlPrints matches code that prints the lines a pattern finds, with their position.
	perlPrints = regexp.MustCompile(`^\s*print(?: "((?:[\w .:,\t-]|\$(?:ARGV|\.|_)|\\[nt])*)")?(?: (?:if|unless) (?:/((?:\\.|[^/\\])*)/i?|length(?:\(\$_\)| \$_)? ?[<>]=? ?\d+))?\s*(?:;\s*close ARGV if eof\s*)?;?\s*$`)
)

// replacesPerl reports whether Perl code only replaces text by text or prints lines, and runs no
// code in its patterns or texts.
func replacesPerl(code string) bool {
	if m := perlPrints.FindStringSubmatch(code); m != nil {
		return !runsInPerl(m[2])
	}
	for strings.TrimSpace(code) != "" {
		m := perlParts.FindStringSubmatch(code)
		if len(m) == 0 || runsInPerl(m[1]+m[4]) || runsInPerl(m[2]+m[5]) {
			return false
		}
		code = code[len(m[0]):]
	}
	return true
}

// runsInPerl reports whether a text runs code. Escaped characters are literal.
func runsInPerl(text string) bool {
	return perlRuns.MatchString(perlEscape.ReplaceAllString(text, "x"))
}

var perlEscape = regexp.MustCompile(`\\.`)
