package paths

import (
	"regexp"
	"slices"
	"strings"
)

// masked is what stands for a secret that was masked before a guard saw it. To a tool it is that
// text. To a shell it is one of the characters in the brackets, and an agent may write it for
// that: .[REDACTED:key]nv has .env.
var masked = regexp.MustCompile(`\[redacted:[a-z0-9-]+\]`)

// anyOne stands for any character in a name. No name of a file has it.
const anyOne = '\x00'

// unmasked is a name with anyOne for each secret that was masked. ok is false where there is none,
// and where other wildcards are beside it: these may repeat it, as +([REDACTED:key]) does, so
// the name is a glob like any other.
func unmasked(name string) (one string, ok bool) {
	if !strings.Contains(name, "[redacted:") {
		return name, false
	}
	one = masked.ReplaceAllString(name, string(anyOne))
	return one, one != name && !strings.ContainsAny(one, `*?[]{}()+|^$\`)
}

// fits reports whether a name in which anyOne may stand has the form of a pattern. A character
// class of the pattern counts as any character. No name that begins with anyOne begins with a
// dot.
func fits(of, form string) bool {
	if strings.HasPrefix(form, ".") && strings.HasPrefix(of, string(anyOne)) {
		return false
	}
	name, pattern := []rune(of), []rune(form)
	n, p := 0, 0
	star, tried := -1, 0 // the pattern behind the last *, and the name from where it was tried there
	for n < len(name) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			p++
			star, tried = p, n
		case p < len(pattern) && (name[n] == anyOne || name[n] == pattern[p] || pattern[p] == '?' || pattern[p] == '['):
			n, p = n+1, p+width(pattern[p:])
		case star >= 0:
			tried++
			n, p = tried, star
		default:
			return false
		}
	}
	return strings.Trim(string(pattern[p:]), "*") == ""
}

// width is how many characters of a pattern stand for one of a name: all of a class.
func width(pattern []rune) int {
	if pattern[0] == '[' {
		return slices.Index(pattern, ']') + 1 // the pattern is valid
	}
	return 1
}
