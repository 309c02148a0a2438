package approval_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/pkg/approval"
)

func TestParseRules(t *testing.T) {
	full := approval.Rules{
		{Name: "staging is fine", Decision: "allow", Hook: "production-*", Tool: "Write", Prompt: "Deploy to staging*"},
		{Name: "rule 2", Decision: "deny", Tool: "Bash"},
	}
	pairs := approval.Rules{
		{Name: "rule 1", Decision: "allow", Hook: "production_protection", Prompt: "production/*"},
		{Name: "rule 2", Decision: "deny", Hook: "cost_control", Prompt: "openai:gpt-4"},
	}
	for sentence, test := range map[string]struct {
		text string
		want approval.Rules
	}{
		"YAML": {`
# what nobody is asked
rules:
  - name: staging is fine
    decision: allow
    hook: production-*
    tool: Write   # the tool of the event
    prompt: "Deploy to staging*"
  - {decision: deny, tool: Bash}
`, full},
		"JSON": {"{\"rules\": [\n\t{\"name\": \"staging is fine\", \"decision\": \"allow\",\n\t\t\"hook\": \"production-*\", \"tool\": \"Write\", \"prompt\": \"Deploy to staging*\"},\n\t{\"decision\": \"deny\", \"tool\": \"Bash\"}\n]}\n", full},
		"the short form in JSON": {`{
  "production_protection:production/*": "allow",
  "cost_control:openai:gpt-4": "deny"
}`, pairs},
		"the short form in YAML":       {"production_protection:production/*: allow\ncost_control:openai:gpt-4: deny\n", pairs},
		"the short form with one rule": {`"*:Deploy*": deny`, approval.Rules{{Name: "rule 1", Decision: "deny", Hook: "*", Prompt: "Deploy*"}}},
		"a prompt of two lines":        {"rules:\n- decision: deny\n  prompt: |-\n    one\n    two\n", approval.Rules{{Name: "rule 1", Decision: "deny", Prompt: "one\ntwo"}}},
		"JSON with escapes":            {`{"rules":[{"decision":"deny","prompt":"\u00e4\/\"\n*"}]}`, approval.Rules{{Name: "rule 1", Decision: "deny", Prompt: "ä/\"\n*"}}},
		"JSON with an escaped pair":    {`{"rules":[{"decision":"deny","prompt":"\ud83d\ude00?"}]}`, approval.Rules{{Name: "rule 1", Decision: "deny", Prompt: "😀?"}}},
		"an empty list":                {"rules: []", approval.Rules{}},
		"an empty mapping":             {"{}", approval.Rules{}},
	} {
		t.Run(sentence, func(t *testing.T) {
			got, err := approval.ParseRules("rules.yaml", []byte(test.text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// pairsOf is a file of n rules in the short form.
func pairsOf(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "hook%d:*: deny\n", i)
	}
	return b.String()
}

func TestParseRulesRefuses(t *testing.T) {
	for sentence, test := range map[string]struct{ text, want string }{
		"an empty file":                  {"", `1:1: the file is empty: write "rules: []" for no rules`},
		"a file of comments":             {"# rules:\n#  - decision: deny\n", `1:1: the file is empty`},
		"a key without value":            {"rules:\n", `1:8: rules: must be a list`},
		"a text":                         {"allow", `1:1: must be a mapping`},
		"a list at the top":              {"- decision: allow", `1:1: must be a mapping`},
		"two documents":                  {"rules: []\n---\nrules: []\n", `3:1: a rule file is one document`},
		"bad syntax":                     {"rules:\n  - decision: \"allow\n", `2:15: `},
		"tabs":                           {"rules:\n\t- decision: allow\n", `2:1: `},
		"another key beside rules":       {"version: 1\nrules: []\n", `1:1: unknown key "version": only rules is known`},
		"rules twice":                    {"rules: []\nrules: []\n", `2:1: `},
		"rules and the short form":       {"rules: []\na:b: allow\n", `2:1: unknown key "a:b"`},
		"a rule that is a text":          {"rules:\n  - allow\n", `2:5: must be a mapping`},
		"an unknown key":                 {"rules:\n  - decision: allow\n    promt: x\n", `3:5: rules[0]: unknown key "promt": known are name, decision, hook, tool, prompt, command, cwd, mode, labels, emitter, lineage and tests`},
		"a key in capitals":              {"rules:\n  - decision: allow\n    Hook: x\n", `3:5: rules[0]: unknown key "Hook"`},
		"a key twice":                    {"rules:\n  - decision: allow\n    hook: x\n    hook: y\n", `4:5: `},
		"a key that is a number":         {"rules:\n  - 1: allow\n", `2:5: a key is a text: quote it`},
		"another decision":               {"rules:\n  - hook: x\n  - hook: y\n    decision: Allow\n", `2:5: rules[0] has no decision: give it allow or deny`},
		"a decision in capitals":         {"rules:\n  - hook: y\n    decision: Allow\n", `3:15: rules[0].decision must be allow or deny, not "Allow"`},
		"a decision that is true":        {"rules:\n  - hook: y\n    decision: true\n", `3:15: decision must be a text: quote it`},
		"a decision without value":       {"rules:\n  - hook: y\n    decision:\n", `3:5: decision has no value`},
		"a rule for everything":          {"rules:\n  - decision: allow\n    name: all\n", `2:5: rules[0] matches everything: give it at least one of hook, tool and prompt`},
		"an empty glob":                  {"rules:\n  - decision: allow\n    hook: x\n    prompt: \"\"\n", `4:13: rules[0].prompt is empty: write "*" for anything`},
		"a glob without value":           {"rules:\n  - decision: allow\n    hook: x\n    prompt:\n", `4:5: prompt has no value`},
		"a glob that is a number":        {"rules:\n  - decision: allow\n    tool: 7\n", `3:11: tool must be a text: quote it`},
		"a glob that is a list":          {"rules:\n  - decision: allow\n    tool: [Write, Edit]\n", `3:11: tool must be a text`},
		"a star that is not quoted":      {"rules:\n  - decision: allow\n    tool: *Write\n", `3:11: `},
		"a glob that is an alias":        {"rules:\n  - decision: allow\n    hook: &a x\n    tool: *a\n", `3:11: hook must be a text: quote it`},
		"a glob with a tag":              {"rules:\n  - decision: allow\n    hook: !!str x\n", `3:11: hook must be a text`},
		"a glob that is too long":        {"rules:\n  - decision: allow\n    hook: " + strings.Repeat("x", 1025), `3:11: rules[0].hook has 1025 bytes: at most 1024 are allowed`},
		"a blank name":                   {"rules:\n  - decision: allow\n    hook: x\n    name: \" \"\n", `4:11: rules[0].name is blank`},
		"a name with escapes":            {"rules:\n  - decision: allow\n    hook: x\n    name: \"\\e[2J\"\n", `4:11: rules[0].name has control characters`},
		"too many rules":                 {"rules:\n" + strings.Repeat("  - {decision: deny, hook: x}\n", 1001), `rules: has 1001 rules: at most 1000 are allowed`},
		"too many of the short form":     {pairsOf(1001), `1:1: the file has 1001 rules: at most 1000 are allowed`},
		"a key twice, once quoted":       {"a:b: allow\n\"a:b\": deny\n", `2:1: `},
		"a key twice, once escaped":      {`{"a:b": "allow", "\u0061:b": "deny"}`, `1:18: `},
		"a file that is too long":        {"rules: []\n#" + strings.Repeat("x", 1<<20), `1:1: the file has 1048587 bytes: at most 1048576 are allowed`},
		"the short form without a colon": {`{"production": "allow"}`, `1:2: "production" is not a rule: write "HOOK:PROMPT": "allow"`},
		"the short form without a hook":  {`{":x": "allow"}`, `1:2: a side of the colon in ":x" is empty: write "*" for anything`},
		"the short form without prompt":  {`{"x:": "allow"}`, `1:2: a side of the colon in "x:" is empty`},
		"the short form with ask":        {"a:b: allow\nc:d: ask\n", `2:6: the rule "c:d" must be allow or deny, not "ask"`},
		"the short form with true":       {`{"a:b": true}`, `1:9: a:b must be a text`},
	} {
		t.Run(sentence, func(t *testing.T) {
			got, err := approval.ParseRules("rules.yaml", []byte(test.text))
			if err == nil {
				t.Fatalf("it was read: %v", got)
			}
			if !strings.HasPrefix(err.Error(), "rules.yaml:") || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error is %q, want in it %q", err, test.want)
			}
			if strings.Contains(err.Error(), "\n") || len(err.Error()) > 400 {
				t.Errorf("error is no short line: %q", err)
			}
		})
	}
}

func TestRulesDecide(t *testing.T) {
	rules := approval.Rules{
		{Name: "staging", Decision: "allow", Hook: "prod-*", Tool: "Write", Prompt: "Deploy to staging*"},
		{Name: "writing", Decision: "allow", Tool: "Write"},
		{Name: "never the database", Decision: "deny", Prompt: "*database*"},
		{Name: "no shell", Decision: "deny", Tool: "Bash", Prompt: "*"},
		{Name: "says nothing", Decision: "allow"},
		{Name: "says neither", Decision: "maybe", Tool: "Read"},
	}
	for sentence, test := range map[string]struct {
		hook, tool, prompt string
		want               string // the rule's name, or empty
	}{
		"all that is given matches, and it is the first": {"prod-guard", "Write", "Deploy to staging?", "staging"},
		"one of three does not":                          {"dev-guard", "Write", "Deploy to staging?", "writing"},
		"none matches":                                   {"dev-guard", "Edit", "Deploy to staging?", ""},
		"a deny wins over allows before it":              {"prod-guard", "Write", "Deploy to staging database?", "never the database"},
		"the first deny of two":                          {"x", "Bash", "drop database", "never the database"},
		"a star matches an empty prompt":                 {"x", "Bash", "", "no shell"},
		"the case of letters counts":                     {"x", "write", "Deploy", ""},
		"no tool is not a tool":                          {"x", "", "Deploy", ""},
		"a decision that is none decides nothing":        {"x", "Read", "read it?", ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			rule, found := rules.Decide(test.hook, test.tool, test.prompt)
			if rule.Name != test.want || found != (test.want != "") {
				t.Errorf("decided by %q, %v; want %q", rule.Name, found, test.want)
			}
		})
	}
	if rule, found := approval.Rules(nil).Decide("x", "y", "z"); found {
		t.Errorf("no rules decide: %v", rule)
	}
}

func TestDecidedByARule(t *testing.T) {
	want := approval.Decision{Granted: true, DecidedBy: "rule staging", Decided: approval.At(asked)}
	if diff := cmp.Diff(want, approval.Rule{Name: "staging", Decision: "allow"}.Decided(asked)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got := (approval.Rule{Name: "prod", Decision: "deny"}).Decided(asked); got.Granted {
		t.Error("a rule that denies grants")
	}
}

func TestGlobs(t *testing.T) {
	for _, test := range []struct {
		glob, text string
		want       bool
	}{
		{"abc", "abc", true},
		{"abc", "abcd", false},
		{"abc", "xabc", false},
		{"a*", "a", true},
		{"*c", "abc", true},
		{"*b", "abc", false},
		{"a*c*e", "abcde", true},
		{"a*c*e", "abcd", false},
		{"*ab", "aab", true},
		{"*abab", "ababab", true},
		{"**", "x", true},
		{"?", "", false},
		{"a?c", "abc", true},
		{"a?c", "ac", false},
		{"?", "é", true},
		{"??", "€", false},
		{"*??", "€", false},
		{"*?€", "€€", true},
		{"*??b*", "€bxx", false},
		{"*", "two\nlines", true},
		{"a?b", "a\nb", true},
		{"a.c", "abc", false},
		{"[ab]", "a", false},
		{"a*", "*", false},
		{"\\*", "*", false},
	} {
		_, got := approval.Rules{{Decision: "allow", Prompt: test.glob}}.Decide("", "", test.text)
		if got != test.want {
			t.Errorf("%q matches %q: %v, want %v", test.glob, test.text, got, test.want)
		}
	}
}

// A pattern that would keep a naive matcher busy for ages ends at once.
func TestAGlobIsNeverSlow(t *testing.T) {
	for _, glob := range []string{strings.Repeat("*a", 500) + "b", "*" + strings.Repeat("a", 1000) + "b", strings.Repeat("*?", 500) + "b"} {
		rules := approval.Rules{{Decision: "deny", Prompt: glob}}
		if _, found := rules.Decide("", "", strings.Repeat("a", approval.MaxPrompt)); found {
			t.Errorf("%.10s… matches", glob)
		}
	}
}

func FuzzGlob(f *testing.F) {
	f.Add("a*b?c", "axxbyc")
	f.Add("*ab*ab", "aabab")
	f.Add("*?\u00e9", "\u20ac\u00e9")
	f.Fuzz(func(t *testing.T, glob, text string) {
		if glob == "" || len(glob) > 200 || !utf8.ValidString(glob) || !utf8.ValidString(text) {
			return
		}
		expression := strings.NewReplacer(`\*`, ".*", `\?`, ".").Replace(regexp.QuoteMeta(glob))
		want := regexp.MustCompile(`(?s)\A` + expression + `\z`).MatchString(text)
		_, got := approval.Rules{{Decision: "allow", Prompt: glob}}.Decide("", "", text)
		if got != want {
			t.Errorf("%q matches %q: %v, want %v", glob, text, got, want)
		}
	})
}

var place = regexp.MustCompile(`^rules\.yaml:[1-9][0-9]*:[1-9][0-9]*: .`)

func FuzzParseRules(f *testing.F) {
	for _, text := range []string{
		"rules:\n  - name: n\n    decision: allow\n    hook: a*\n    tool: '?'\n    prompt: |\n      x\n",
		`{"rules":[{"decision":"deny","prompt":"\u00e4"}]}`, `{"a:b":"allow","c:d:e":"deny"}`, "rules: [{decision: deny, hook: *a}]",
		"rules:\n- &a {decision: deny}\n- *a\n", "? {a: b}\n: c", "a: !!binary x", "%YAML 1.2\n---\n{}", "{{{{", "- - -", "rules: []\n---\nx", "<<: x",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		rules, err := approval.ParseRules("rules.yaml", text)
		if err != nil {
			if !place.MatchString(err.Error()) || strings.Contains(err.Error(), "\n") {
				t.Errorf("the error has no place, or is no line: %q", err)
			}
			return
		}
		for i, r := range rules {
			if r.Decision != "allow" && r.Decision != "deny" || r.Name == "" || r.Hook+r.Tool+r.Prompt == "" {
				t.Errorf("rule %d is none: %+v", i, r)
			}
		}
	})
}

func TestARuleInOneLine(t *testing.T) {
	got := fmt.Sprint(approval.Rule{Name: "rule 1", Decision: "deny", Hook: "prod-*", Prompt: "a\n*"})
	if want := `rule 1: deny hook "prod-*" prompt "a\n*"`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
