package shell

import (
	"regexp"
	"strings"
)

var (
	awkRuns = regexp.MustCompile(`system|getline|print[^;}\n]*[|>]|@\s*\w|SYMTAB|PROCINFO`)
	// awkMayPrint is awkRuns where it isn't certain which part of a program is text.
	awkMayPrint = regexp.MustCompile(`(?s)print.*[|>]`)
	// awkArgument is a use of the list of files that awk reads, but to ask which one it is.
	awkArgument = regexp.MustCompile(`\bARGV\b`)
	awkWhich    = regexp.MustCompile(`FILENAME\s*[!=]=\s*ARGV\[[0-9]\]`)
	// awkBracket is a pattern that ends within brackets, where a / may end nothing.
	awkBracket = regexp.MustCompile(`\[[^\]]*$`)
	// awkOperator is a word behind which a / begins a pattern.
	awkOperator = regexp.MustCompile(`\b(print|printf|return|in|getline|do|else|case|exit)$`)
)

// runsAwk reports whether a program of awk may run a command, or read and write other files
// than it is given.
func runsAwk(code string) bool {
	bare, certain := awkCode(code)
	return awkRuns.MatchString(code) || awkRuns.MatchString(bare) || !certain && awkMayPrint.MatchString(code) ||
		awkArgument.MatchString(awkWhich.ReplaceAllString(code, ""))
}

// awkCode is a program of awk without what is in its texts, patterns and comments. It is
// not certain where a / may divide or begin a pattern, and where one of them doesn't end.
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

// awkPattern reports whether a / behind some code begins a pattern, and whether that is known.
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
