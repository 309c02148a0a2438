package builtin

import (
	"fmt"
	"path"
	"strings"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// Tools are patterns of tools: names or classes, in any case of letters, with * and ?.
type Tools []string

// Check says which pattern is malformed, and its index.
func (t Tools) Check() (wrong int, err error) {
	for i, pattern := range t {
		if _, err := path.Match(pattern, ""); err != nil || pattern == "" {
			return i, fmt.Errorf("%q is not a pattern: give a tool's name or class, such as Bash, shell or mcp__github__*", pattern)
		}
	}
	return 0, nil
}

// Match reports whether a tool is among them.
func (t Tools) Match(tool events.Tool) bool {
	for _, pattern := range t {
		for _, name := range []string{tool.Name, string(tool.Class)} {
			if ok, _ := path.Match(strings.ToLower(pattern), strings.ToLower(name)); ok {
				return true
			}
		}
	}
	return false
}
