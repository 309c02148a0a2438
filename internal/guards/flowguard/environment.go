package flowguard

import (
	"regexp"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/guards/shell"
)

var (
	// ofEnvironment matches code that reads environment variables, with the variable or method that
	// follows. The first group matches code that passes the whole environment to a child process.
	ofEnvironment = regexp.MustCompile(`(\benv\s*[=:]\s*[{(.*\w]*)?(?:\bos\.environ|\bgetenv|\bGetenv|\bprocess\.env|\bENV\b|\bDeno\.env|%ENV|\$_?ENV\b)(?:\.(?:get|fetch|setdefault|pop)\b)?[.(\[{'"]*(\w*)`)
	// interpreters match programs that take code as an argument.
	interpreters = regexp.MustCompile(`^(python|pypy|ruby|perl|php|node|bun|deno|tsx|ts-node)[\d.]*$`)
	// allOf are methods that return all variables.
	allOf = strings.Fields("items values copy to_h to_a inspect each map toObject entries")
	// secretVariable matches the name of a variable that contains a secret.
	secretVariable = regexp.MustCompile(`(?i)^(` + secretName + `|` + linkName + `)$`)
)

// looksUp reports whether the code in a command reads a variable with a secret, or all variables.
func looksUp(c shell.Command) bool {
	if !interpreters.MatchString(c.Name()) {
		return false
	}
	reads := func(w shell.Word) bool {
		if !strings.ContainsAny(w.Text, "([{.% ") { // a name rather than code
			return false
		}
		for _, m := range ofEnvironment.FindAllStringSubmatch(w.Text, -1) {
			if secretVariable.MatchString(m[2]) || m[1] == "" && (m[2] == "" || slices.Contains(allOf, m[2])) {
				return true
			}
		}
		return false
	}
	return slices.ContainsFunc(c.Args(), reads) || slices.ContainsFunc(c.Redirects, func(r shell.Redirect) bool { return reads(r.Here) })
}
