package paths

import (
	"regexp"
	"slices"
	"strings"
)

// masked matches the marker of a secret that was masked before the guard received the text. A tool
// uses it as literal text. To a shell it is a bracket expression, and an agent may write it for
// that purpose: .[REDACTED:key]nv matches .env.
var masked = regexp.MustCompile(`\[redacted:[a-z0-9-]+\]`)

// anyOne represents any character in a name. No file name contains it.
const anyOne = '\x00'

// unmasked returns a name with anyOne in place of each masked secret. ok is false if there is none,
// or if there are other wildcards: these may repeat it, as +([REDACTED:key]) does, so the name is
// treated like any other glob.
func unmasked(name string) (one string, ok bool) {
	if !strings.Contains(name, "[redacted:") {
		return name, false
	}
	one = masked.ReplaceAllString(name, string(anyOne))
	return one, one != name && !strings.ContainsAny(one, `*?[]{}()+|^$\`)
}

// fits reports whether a name that may contain anyOne matches a pattern. A character class in the
// pattern matches any character. A leading anyOne does not match a dot.
func fits(of, form string) bool {
	if strings.HasPrefix(form, ".") && strings.HasPrefix(of, string(anyOne)) {
		return false
	}
	name, pattern := []rune(of), []rune(form)
	n, p := 0, 0
	star, tried := -1, 0 // position in the pattern after the last *, and in the name where it was tried
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

// width returns the length of the pattern that matches one character: that of a whole class, or 1.
func width(pattern []rune) int {
	if pattern[0] == '[' {
		return slices.Index(pattern, ']') + 1 // the pattern is valid
	}
	return 1
}
