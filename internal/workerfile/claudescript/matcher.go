package claudescript

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Matcher says which calls a hook is for, as the matcher of Claude Code's settings
// does. The zero Matcher takes all. It is safe for concurrent use.
type Matcher struct {
	names   []string // exact names; nil for a pattern, or all
	pattern *regexp.Regexp
}

var plainNames = regexp.MustCompile(`^[A-Za-z0-9_ ,|-]+$`)

// ParseMatcher reads a matcher: empty or "*" takes all, a text of letters, digits,
// '_', '-', spaces, commas and '|' is a list of exact names, and any other a regular
// expression that may match anywhere. Of JavaScript's expressions, those that look
// ahead or behind are refused.
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

// Takes reports whether the hook is for a call. It is for one whose event has
// nothing to look at, and for one that does not say what it is, so that a guard
// sees the call of a tool without a name.
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
