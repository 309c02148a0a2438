package chain

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxRule is the maximum length of a rule's name, in bytes.
const MaxRule = 256

// CleanRule returns a rule's name from a worker in a form that is safe to record: at most [MaxRule]
// bytes on one line. Invisible characters, and those that would change how the text around them is
// read, are replaced by their code points, as in \u{202e}. The worker may be hostile, and people
// read the name in a terminal.
func CleanRule(rule string) string {
	if len(rule) > MaxRule { // before reading it: it may be as long as a header
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

// CleanPolicy returns a policy's version from a worker, or "" unless it is like "production@7
// sha256:…" with 64 hexadecimal digits.
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

// isName reports whether a text is a name of at most most bytes: lower-case letters, digits and,
// except at the start, the characters in marks.
func isName(s string, most int, marks string) bool {
	const first = digits + "abcdefghijklmnopqrstuvwxyz"
	return s != "" && len(s) <= most && strings.IndexByte(first, s[0]) >= 0 && strings.Trim(s, first+marks) == ""
}

// plainRule reports whether a rule is printable ASCII, as most are.
func plainRule(rule string) bool {
	for i := range len(rule) {
		if rule[i] < ' ' || rule[i] > '~' {
			return false
		}
	}
	return true
}
