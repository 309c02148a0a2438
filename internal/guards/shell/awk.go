package shell

import (
	"regexp"
	"strings"
)

var (
	awkRuns = regexp.MustCompile(`system|getline|print[^;}\n]*[|>]|@\s*\w|SYMTAB|PROCINFO`)
	// awkMayPrint is a looser awkRuns, for programs in which strings cannot be told from code.
	awkMayPrint = regexp.MustCompile(`(?s)print.*[|>]`)
	// awkArgument matches a use of ARGV, the list of input files. awkWhich matches the harmless
	// comparison with FILENAME.
	awkArgument = regexp.MustCompile(`\bARGV\b`)
	awkWhich    = regexp.MustCompile(`FILENAME\s*[!=]=\s*ARGV\[[0-9]\]`)
	// awkBracket matches an unterminated bracket expression, in which a / may not end the pattern.
	awkBracket = regexp.MustCompile(`\[[^\]]*$`)
	// awkOperator matches a word after which a / begins a pattern.
	awkOperator = regexp.MustCompile(`\b(print|printf|return|in|getline|do|else|case|exit)$`)
)

// runsAwk reports whether an awk program may run a command, or access files other than its input.
func runsAwk(code string) bool {
	bare, certain := awkCode(code)
	return awkRuns.MatchString(code) || awkRuns.MatchString(bare) || !certain && awkMayPrint.MatchString(code) ||
		awkArgument.MatchString(awkWhich.ReplaceAllString(code, ""))
}

// awkCode returns an awk program without the contents of its strings, patterns and comments.
// certain is false if a / may divide or begin a pattern, or if a string or pattern is unterminated.
func awkCode(code string) (bare string, certain bool) {
	var b strings.Builder
	certain = true
	for i := 0; i < len(code); i++ {
		switch c := code[i]; c {
		case '#':
			for i+1 < len(code) && code[i+1] != '\n' {
				i++
			}
			continue
		case '/':
			begins, known := awkPattern(b.String())
			if certain = certain && known; !begins {
				b.WriteByte(c)
				continue
			}
			fallthrough
		case '"':
			from := i
			for i++; i < len(code) && code[i] != c && code[i] != '\n'; i++ {
				if code[i] == '\\' {
					i++
				}
			}
			certain = certain && i < len(code) && code[i] == c && (c == '"' || !awkBracket.MatchString(code[from:i]))
			b.WriteString(`""`)
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), certain
}

// awkPattern reports whether a / after some code begins a pattern, and whether that is known.
func awkPattern(before string) (begins, known bool) {
	before = strings.TrimRight(before, " \t")
	switch {
	case before == "" || awkOperator.MatchString(before[max(0, len(before)-8):]):
		return true, true
	case strings.HasSuffix(before, "++") || strings.HasSuffix(before, "--") || strings.HasSuffix(before, `"`) || strings.HasSuffix(before, ")"):
		return false, false
	}
	return strings.ContainsRune("(,{};!~&|=<>+-*%^?:\n", rune(before[len(before)-1])), true
}
