package events

import (
	"fmt"
	"strings"
)

// Limits of names, from the wire protocol.
const (
	MaxNameParts = 8   // parts of an event name
	MaxPartLen   = 64  // characters of one part, and of a hook id
	MaxTitleLen  = 128 // characters of a hook's name for people
)

// The names of two events in the specification. They are aliases of [ToolError] and
// [ProviderError], with the same data: a hook for one name is called for both.
const (
	ErrorTool     = "error:tool"
	ErrorProvider = "error:provider"
)

// aliases maps each spelling that has one to its canonical spelling.
var aliases = map[string]string{
	"context:pre-compact": ContextPreCompact,
	"execution:complete":  ExecutionEnd,
	ErrorTool:             ToolError,
	ErrorProvider:         ProviderError,
}

// spellings maps a canonical name to all of its spellings, itself first.
var spellings = func() map[string][]string {
	m := make(map[string][]string, len(aliases))
	for alias, name := range aliases {
		m[name] = []string{name, alias}
	}
	return m
}()

// Canonical returns the spelling of name that matching uses: the same name
// unless it is an alias.
func Canonical(name string) string {
	if c, ok := aliases[name]; ok {
		return c
	}
	return name
}

// Spellings returns every spelling of the event that name names, the canonical
// one first. For most events that is the name alone.
func Spellings(name string) []string {
	c := Canonical(name)
	if s, ok := spellings[c]; ok {
		return s
	}
	return []string{c}
}

// CheckName reports why name is no event name, or nil.
func CheckName(name string) error {
	if n := strings.Count(name, ":") + 1; n > MaxNameParts {
		return fmt.Errorf("event name %q has %d parts: at most %d are allowed", clip(name), n, MaxNameParts)
	}
	for p := range strings.SplitSeq(name, ":") {
		if !validPart(p) {
			return fmt.Errorf("event name %q: a part is 1 to %d letters, digits, '_' or '-', and parts are joined by ':'", clip(name), MaxPartLen)
		}
	}
	return nil
}

// CheckPattern reports why pattern can't be registered, or nil. A pattern is an
// event name, "*", or an event name followed by ":*".
func CheckPattern(pattern string) error {
	if pattern == "*" {
		return nil
	}
	return CheckName(strings.TrimSuffix(pattern, ":*"))
}

// CheckChannel reports why channel is no contribution channel, or nil: parts as
// in an event name, joined by dots.
func CheckChannel(channel string) error {
	parts := strings.Split(channel, ".")
	for _, p := range parts {
		if !validPart(p) || len(parts) > MaxNameParts {
			return fmt.Errorf("channel %q: 1 to %d parts of letters, digits, '_' or '-', joined by '.'", clip(channel), MaxNameParts)
		}
	}
	return nil
}

// CheckHookID reports why id is no hook id, or nil.
func CheckHookID(id string) error {
	ok := id != "" && len(id) <= MaxPartLen && id[0] != '_' && id[0] != '-'
	for i := 0; ok && i < len(id); i++ {
		ok = lowerDigit(id[i]) || id[i] == '_' || id[i] == '-'
	}
	if !ok {
		return fmt.Errorf("hook id %q: 1 to %d of a-z, 0-9, '_' and '-', beginning with a letter or digit", clip(id), MaxPartLen)
	}
	return nil
}

// Match reports whether pattern matches the event name, in any of its
// spellings.
func Match(pattern, name string) bool {
	if pattern == "*" {
		return true
	}
	domain, isDomain := strings.CutSuffix(pattern, "*")
	if !isDomain {
		return Canonical(pattern) == Canonical(name)
	}
	for _, s := range Spellings(name) {
		if strings.HasPrefix(s, domain) {
			return true
		}
	}
	return false
}

func validPart(p string) bool {
	if p == "" || len(p) > MaxPartLen {
		return false
	}
	for i := range len(p) {
		c := p[i]
		if !lowerDigit(c) && (c < 'A' || c > 'Z') && c != '_' && c != '-' {
			return false
		}
	}
	return true
}

func lowerDigit(c byte) bool { return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' }

// clip keeps foreign text in an error message short.
func clip(s string) string {
	if len(s) > 80 {
		return strings.ToValidUTF8(s[:80], "") + "..."
	}
	return s
}
