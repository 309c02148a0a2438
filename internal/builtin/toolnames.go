package builtin

import (
	"path"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// Tools are patterns of tools: names or classes, in any case of letters, with * and ?.
type Tools []string

// Check returns an error for the first malformed pattern of an option.
func (t Tools) Check(option jsontext.Pointer) error {
	for i, pattern := range t {
		if _, err := path.Match(pattern, ""); err != nil || pattern == "" {
			return kind.At(option.AppendToken(strconv.Itoa(i)), "%q is not a pattern: give a tool's name or class, such as Bash, shell or mcp__github__*", pattern)
		}
	}
	return nil
}

// Match reports whether a tool matches one of the patterns.
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
