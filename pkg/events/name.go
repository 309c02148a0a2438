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

// Aliases of [ToolError] and [ProviderError] in the specification. A hook for one name is called
// for both, with the same data.
const (
	ErrorTool     = "error:tool"
	ErrorProvider = "error:provider"
)

// aliases maps aliases to canonical names.
var aliases = map[string]string{
	"context:pre-compact": ContextPreCompact,
	"execution:complete":  ExecutionEnd,
	ErrorTool:             ToolError,
	ErrorProvider:         ProviderError,
}

// spellings maps a canonical name to all of its spellings, the canonical one first.
var spellings = func() map[string][]string {
	m := make(map[string][]string, len(aliases))
	for alias, name := range aliases {
		m[name] = []string{name, alias}
	}
	return m
}()

// Canonical returns the spelling of name that matching uses. It is name itself unless that is an
// alias.
func Canonical(name string) string {
	if c, ok := aliases[name]; ok {
		return c
	}
	return name
}

// Spellings returns all spellings of an event name, the canonical one first. Most events have only
// one.
func Spellings(name string) []string {
	c := Canonical(name)
	if s, ok := spellings[c]; ok {
		return s
	}
	return []string{c}
}

// CheckName returns an error unless name is a valid event name.
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

// CheckPattern returns an error unless pattern can be registered: an event name, "*", or an event
// name followed by ":*".
func CheckPattern(pattern string) error {
	if pattern == "*" {
		return nil
	}
	return CheckName(strings.TrimSuffix(pattern, ":*"))
}

// CheckChannel returns an error unless channel is a valid contribution channel: parts as in an
// event name, joined by dots.
func CheckChannel(channel string) error {
	parts := strings.Split(channel, ".")
	for _, p := range parts {
		if !validPart(p) || len(parts) > MaxNameParts {
			return fmt.Errorf("channel %q: 1 to %d parts of letters, digits, '_' or '-', joined by '.'", clip(channel), MaxNameParts)
		}
	}
	return nil
}

// CheckHookID returns an error unless id is a valid hook id.
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

// Match reports whether pattern matches the event name in any of its spellings.
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

// clip shortens untrusted text for an error message.
func clip(s string) string {
	if len(s) > 80 {
		return strings.ToValidUTF8(s[:80], "") + "..."
	}
	return s
}
