package redact

import (
	"bytes"
	"regexp"
	"slices"
)

// span is a secret in a text.
type span struct {
	start, end int
	kind       string
}

// kind is a form of secrets. A text without any of its hints has none of them,
// which is much cheaper to see than that the expression does not match.
type kind struct {
	name  string
	hints [][]byte
	form  *regexp.Regexp
}

// kinds are the forms beside cards. Where two overlap, they count as the one that
// begins first.
var kinds = []kind{
	newKind("private-key", `(?s)-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\z)`, "-----BEGIN "),
	newKind("aws-key", `(?:AKIA|ASIA)[0-9A-Z]{16}`, "AKIA", "ASIA"),
	newKind("github-token", `gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,}`, "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
	newKind("slack-token", `xox[a-z]-[A-Za-z0-9-]{10,}`, "xox"),
	newKind("api-key", `\bsk-[A-Za-z0-9_-]{20,}`, "sk-"),
}

var email = newKind("email", `[A-Za-z0-9._%+-]+@(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,}`, "@")

func newKind(name, form string, hints ...string) kind {
	k := kind{name: name, form: regexp.MustCompile(form)}
	for _, h := range hints {
		k.hints = append(k.hints, []byte(h))
	}
	return k
}

// spans returns the secrets in text in order, none touching another's bytes.
func (o Options) spans(text []byte) []span {
	found := cards(text, nil)
	for _, k := range kinds {
		found = k.find(text, found)
	}
	if o.Emails {
		found = email.find(text, found)
	}
	if len(found) < 2 {
		return found
	}
	slices.SortStableFunc(found, func(a, b span) int { return a.start - b.start })
	merged := found[:1]
	for _, s := range found[1:] {
		if last := &merged[len(merged)-1]; s.start < last.end {
			last.end = max(last.end, s.end)
		} else {
			merged = append(merged, s)
		}
	}
	return merged
}

func (k kind) find(text []byte, found []span) []span {
	if !slices.ContainsFunc(k.hints, func(h []byte) bool { return bytes.Contains(text, h) }) {
		return found
	}
	for _, at := range k.form.FindAllIndex(text, -1) {
		found = append(found, span{at[0], at[1], k.name})
	}
	return found
}

// cards finds card numbers: 16 digits, plain or in four groups of four.
func cards(text []byte, found []span) []span {
	for i := 0; i < len(text); {
		n := digits(text[i:])
		switch {
		case n == 0:
			i++
			continue
		case n == 16 && isCard(text[i:i+16]):
			found = append(found, span{i, i + 16, "card"})
		case n == 4 && isGrouped(text[i:]):
			found = append(found, span{i, i + 19, "card"})
			n = 19
		}
		i += n
	}
	return found
}

// digits is the number of digits that text begins with.
func digits(text []byte) int {
	n := 0
	for n < len(text) && isDigit(text[n]) {
		n++
	}
	return n
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// isGrouped reports whether text begins with four groups of four digits that
// make a card number. Dashes are how nothing else is written; groups with spaces
// must have the right check digit.
func isGrouped(text []byte) bool {
	if len(text) < 19 || text[4] != '-' && text[4] != ' ' {
		return false
	}
	number := make([]byte, 0, 16)
	for g := 0; g < 20; g += 5 {
		if digits(text[g:]) != 4 || g > 0 && text[g-1] != text[4] {
			return false
		}
		number = append(number, text[g:g+4]...)
	}
	return text[4] == '-' || isCard(number)
}

// isCard reports whether 16 digits may be a card: those begin with 2 to 6, unlike
// times in microseconds, and end with a check digit (Luhn).
func isCard(number []byte) bool {
	if number[0] < '2' || number[0] > '6' {
		return false
	}
	sum := 0
	for i, c := range number {
		d := int(c - '0')
		if i%2 == 0 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum%10 == 0
}
