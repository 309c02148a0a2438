package chain

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxRule is how long the name of a rule may be, in bytes.
const MaxRule = 256

// CleanRule returns what is kept of a rule's name from a worker: at most [MaxRule] bytes on one
// line. Invisible characters, and those that would change how the text around them is read,
// become their code points, such as \u{202e}: a worker may be hostile, and people read this in a
// terminal.
func CleanRule(rule string) string {
	if len(rule) > MaxRule { // before it is read: it may be as long as a header
		end := MaxRule - len("…")
		for end > 0 && !utf8.RuneStart(rule[end]) {
			end--
		}
		rule = rule[:end] + "…"
	}
	rule = strings.TrimSpace(rule)
	if plainRule(rule) {
		return rule
	}
	var b strings.Builder
	for _, c := range rule {
		text := string(c)
		if c == utf8.RuneError || c != ' ' && !unicode.IsGraphic(c) || unicode.Is(unicode.Cf, c) || c != ' ' && unicode.IsSpace(c) {
			text = fmt.Sprintf("\\u{%x}", c)
		}
		if b.Len()+len(text) > MaxRule {
			break
		}
		b.WriteString(text)
	}
	return b.String()
}

// CleanPolicy returns what is kept of a policy's version from a worker: nothing, unless it is
// like "production@7 sha256:…", with 64 hexadecimal digits.
func CleanPolicy(policy string) string {
	name, version, _ := strings.Cut(policy, "@")
	serial, digest, _ := strings.Cut(version, " sha256:")
	switch {
	case !isName(name, 64, "._-"),
		serial == "" || serial[0] == '0' || len(serial) > 19 || strings.Trim(serial, digits) != "",
		len(digest) != 64 || strings.Trim(digest, digits+"abcdef") != "":
		return ""
	}
	return policy
}

const digits = "0123456789"

// isName reports whether a text is a name: lower-case letters, digits and, except in the first
// place, some marks.
func isName(s string, most int, marks string) bool {
	const first = digits + "abcdefghijklmnopqrstuvwxyz"
	return s != "" && len(s) <= most && strings.IndexByte(first, s[0]) >= 0 && strings.Trim(s, first+marks) == ""
}

// plainRule reports whether a rule is printable ASCII, as nearly all are.
func plainRule(rule string) bool {
	for i := range len(rule) {
		if rule[i] < ' ' || rule[i] > '~' {
			return false
		}
	}
	return true
}
