package redact_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/policy/redact"
)

var place = regexp.MustCompile(`^redact\.yaml:[1-9][0-9]*:[1-9][0-9]*: .`)

func TestParseRulesRefuses(t *testing.T) {
	for sentence, c := range map[string]struct{ text, want string }{
		"nothing":                        {"", `1:1: the file is empty: write {} for the defaults`},
		"a comment only":                 {"# x\n", `1:1: the file is empty`},
		"a list":                         {"- email\n", `1:1: must be a mapping`},
		"tabs":                           {"keys:\n\t- pin\n", `2:1: `},
		"two documents":                  {"keys: [a]\n---\nkeys: [b]\n", `a rule file is one document`},
		"an unknown key":                 {"keys: [a]\npattern: x\n", `2:1: unknown key "pattern": known are without, keys, patterns and allow`},
		"a key twice":                    {"keys: [a]\nkeys: [b]\n", `2:1: `},
		"an alias":                       {"keys: &a [x]\nwithout: *a\n", `1:`},
		"without that is no list":        {"without: email\n", `1:10: without: must be a list`},
		"an unknown default":             {"without:\n  - mail\n", `2:5: without[0] "mail" is not a default: name a default key, or one of the kinds access-token, api-key, `},
		"a default twice":                {"without: [email, email]\n", `1:18: without[1]: "email" is listed twice`},
		"a key of two spellings":         {"keys: [x-pin, X_PIN]\n", `1:15: keys[1]: "X_PIN" is listed twice`},
		"an empty key":                   {"keys: ['']\n", `1:8: keys[0] is empty`},
		"a key that is a number":         {"keys: [1]\n", `1:8: keys[0] must be a text: quote it`},
		"a key that is too long":         {"keys: [" + strings.Repeat("k", 64) + "]\n", `1:8: keys[0] has 64 bytes: at most 63 are allowed`},
		"too many keys":                  {"keys: [" + strings.Repeat("k, ", 1001) + "]\n", `keys: has 1001 entries: at most 1000 are allowed`},
		"patterns that are a mapping":    {"patterns:\n  name: x\n", `2:3: patterns: must be a list`},
		"a pattern that is a text":       {"patterns: ['x']\n", `1:12: must be a mapping`},
		"a pattern without name":         {"patterns:\n- pattern: 'x'\n", `2:3: patterns[0] has no name`},
		"a name without pattern":         {"patterns:\n- name: x\n", `2:3: patterns[0] has no pattern`},
		"a pattern with an unknown key":  {"patterns:\n- name: x\n  regex: y\n", `3:3: patterns[0]: unknown key "regex": known are name, pattern and hints`},
		"a name twice":                   {"patterns:\n- {name: x, pattern: x}\n- {name: x, pattern: y}\n", `3:10: patterns[1].name "x" is listed twice`},
		"the name of a default":          {"patterns:\n- {name: card, pattern: x}\n", `2:10: patterns[0].name "card" is a default: take another name, or write "without: [card]" to replace it`},
		"a name with spaces":             {"patterns:\n- {name: a b, pattern: x}\n", `2:10: patterns[0].name is "a b": take letters a to z, digits and dashes`},
		"a name with a bracket":          {"patterns:\n- {name: 'a\"]', pattern: x}\n", `2:10: patterns[0].name is`},
		"a pattern that does not end":    {"patterns:\n- {name: x, pattern: '(x'}\n", `2:22: patterns[0].pattern is not a valid expression: missing closing ): "(x" (write a backslash before`},
		"a lookahead":                    {"patterns:\n- {name: x, pattern: 'a(?=b)'}\n", `RE2 has no lookahead and lookbehind`},
		"a back reference":               {"patterns:\n- {name: x, pattern: '(a)\\1'}\n", `RE2 has no back references`},
		"a pattern for nothing":          {"patterns:\n- {name: x, pattern: 'a*'}\n", `2:22: patterns[0].pattern "a*" matches the empty text`},
		"an empty pattern":               {"patterns:\n- {name: x, pattern: ''}\n", `2:22: patterns[0].pattern is empty`},
		"a pattern that is too long":     {"patterns:\n- {name: x, pattern: '" + strings.Repeat("a", 1025) + "'}\n", `patterns[0].pattern has 1025 bytes: at most 1024 are allowed`},
		"a pattern that grows too large": {"patterns:\n- {name: x, pattern: 'a{1000}{1000}'}\n", `patterns[0].pattern is not a valid expression: `},
		"a hint of two letters":          {"patterns:\n- {name: x, pattern: 'ab.', hints: [ab]}\n", `2:37: patterns[0].hints[0] "ab" is too short`},
		"a hint that is no list":         {"patterns:\n- {name: x, pattern: 'abc', hints: abc}\n", `patterns[0].hints: must be a list`},
		"an allowed pattern that fails":  {"allow:\n- pattern: '['\n", `2:12: allow[0].pattern is not a valid expression: missing closing ]`},
		"an allowed nothing":             {"allow: ['']\n", `1:9: allow[0] is empty`},
		"an allowed value twice":         {"allow: [a, a]\n", `1:12: allow[1]: "a" is listed twice`},
		"an allowed unknown":             {"allow:\n- value: x\n", `2:3: allow[0]: unknown key "value": known is pattern`},
		"an allowed empty mapping":       {"allow:\n- {}\n", `2:3: allow[0] has no pattern`},
		"a file that is too long":        {"{}\n#" + strings.Repeat("x", 1<<20), `1:1: the file has 1048580 bytes: at most 1048576 are allowed`},
	} {
		t.Run(sentence, func(t *testing.T) {
			got, err := redact.ParseRules("redact.yaml", []byte(c.text))
			if err == nil {
				t.Fatalf("it was read: %v", got)
			}
			if !place.MatchString(err.Error()) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error is %q, want in it %q", err, c.want)
			}
			if strings.Contains(err.Error(), "\n") || len(err.Error()) > 400 {
				t.Errorf("error is no short line: %q", err)
			}
		})
	}
}

func FuzzParseRules(f *testing.F) {
	for _, text := range []string{"{}", "without: [email]\nkeys: [pin]\n", "patterns:\n- {name: x, pattern: 'a+', hints: [aaa]}\nallow: [a, {pattern: b}]\n", "\xff", "a: *b"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := redact.ParseRules("redact.yaml", text)
		if err != nil {
			if !place.MatchString(err.Error()) {
				t.Errorf("%q: error without a place: %q", text, err)
			}
			return
		}
		r.Object([]byte(`{"a":"some ordinary text","password":1}`))
	})
}
