package claudescript

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Matcher selects the calls of a hook, as the matcher in Claude Code's settings does. The zero
// Matcher matches all calls. It is safe for concurrent use.
type Matcher struct {
	names   []string // exact names; nil for a pattern or a matcher that matches all
	pattern *regexp.Regexp
}

var plainNames = regexp.MustCompile(`^[A-Za-z0-9_ ,|-]+$`)

// ParseMatcher parses a matcher: empty or "*" matches all calls; a text of letters, digits, '_',
// '-', spaces, commas and '|' is a list of exact names; and anything else is a regular expression
// that may match anywhere. It rejects lookahead and lookbehind, which JavaScript has.
func ParseMatcher(text string) (Matcher, error) {
	if text == "" || text == "*" {
		return Matcher{}, nil
	}
	if plainNames.MatchString(text) {
		var names []string
		for name := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '|' || r == ',' }) {
			names = append(names, strings.TrimSpace(name))
		}
		return Matcher{names: names}, nil
	}
	pattern, err := regexp.Compile(text)
	if err != nil {
		return Matcher{}, fmt.Errorf("is not a valid regular expression (RE2): %w", err)
	}
	return Matcher{pattern: pattern}, nil
}

// Takes reports whether the matcher selects a call. It also selects a call whose event has no
// subject, or that does not give its subject, so that a guard sees the call of a tool without a
// name.
func (m Matcher) Takes(c Call) bool {
	subject := c.subject()
	switch {
	case subject == "":
		return true
	case m.pattern != nil:
		return m.pattern.MatchString(subject)
	case m.names != nil:
		return slices.Contains(m.names, subject)
	}
	return true
}
