package shell

import (
	"regexp"
	"strings"
)

var (
	// perlParts are replacements of text by text, with / or with braces, one behind the other.
	perlParts = regexp.MustCompile(`^\s*(?:s/((?:\\.|[^/\\])*)/((?:\\.|[^/\\])*)/([gimsx]*)|s\{((?:\\.|[^{}\\])*)\}\{((?:\\.|[^{}\\])*)\}([gimsx]*))\s*(?:;|$)`)
	// perlRuns is what runs code within a text: @{[ ]}, $h{ }, (?{ }).
	perlRuns = regexp.MustCompile(`(^|[^\\])(@|\$\w*[{\[])|->|\(\?+\??\{`)
	// perlPrints prints the lines that a pattern finds, with their place.
	perlPrints = regexp.MustCompile(`^\s*print(?: "((?:[\w .:,\t-]|\$(?:ARGV|\.|_)|\\[nt])*)")?(?: (?:if|unless) (?:/((?:\\.|[^/\\])*)/i?|length(?:\(\$_\)| \$_)? ?[<>]=? ?\d+))?\s*(?:;\s*close ARGV if eof\s*)?;?\s*$`)
)

// replacesPerl reports whether code of Perl replaces text by text, or prints lines, and runs nothing
// in what it looks for or puts there.
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

// runsInPerl reports whether a text runs code; a character behind a backslash stands for itself.
func runsInPerl(text string) bool {
	return perlRuns.MatchString(perlEscape.ReplaceAllString(text, "x"))
}

var perlEscape = regexp.MustCompile(`\\.`)
