package approval

import (
	"fmt"

	"github.com/goccy/go-yaml/ast"

	"github.com/hookrouter/hookrouter/internal/strictyaml"
)

// MaxRuleTests bounds the tests of one rule.
const MaxRuleTests = 100

// RuleTest is a test of the rules of a file.
type RuleTest struct {
	Rule   int // index of the rule that lists the test
	Line   int // of the file
	Facts  Facts
	Expect string // "allow", "deny", or "ask" where no rule matches
}

// Check evaluates all rules for a test, shadow rules included. It returns an error if their answer
// is not the expected one.
func (t RuleTest) Check(rules Rules) error {
	got := "ask"
	rule, found := rules.Enforced().Match(t.Facts)
	if found {
		got = rule.Decision
	}
	switch {
	case got == t.Expect:
		return nil
	case found:
		return fmt.Errorf("%s by %s, where %s is expected", got, rule.Name, t.Expect)
	}
	return fmt.Errorf("no rule matches, where %s is expected", t.Expect)
}

// ParseRuleTests parses the tests in a rule file, which must be valid for [ParseRules]:
//
//	rules:
//	  - decision: allow
//	    hook: Commands
//	    command: acme check conf/*.yaml
//	    tests:
//	      - {command: acme check conf/a.yaml, expect: allow}
//	      - {command: acme check conf/a.yaml, labels: [secret-read], expect: ask}
//
// A test inherits hook, tool, prompt, command and cwd from its rule unless it sets them.
func ParseRuleTests(name string, text []byte) ([]RuleTest, error) {
	rules, err := ParseRules(name, text)
	if err != nil {
		return nil, err
	}
	body, err := strictyaml.Parse(text, "")
	if err != nil {
		return nil, fmt.Errorf("%s:%w", name, err)
	}
	top, err := strictyaml.Mapping(body)
	if err != nil || top[0].Key != "rules" {
		return nil, nil //nolint:nilerr // the other form of a file has no tests
	}
	list, ok := top[0].Value.(*ast.SequenceNode)
	if !ok {
		return nil, nil
	}
	var tests []RuleTest
	for i, node := range list.Values {
		members, err := strictyaml.Mapping(node)
		if err != nil {
			return nil, fmt.Errorf("%s:%w", name, err)
		}
		for _, m := range members {
			if m.Key != "tests" {
				continue
			}
			these, err := ruleTests(m, i, rules[i])
			if err != nil {
				return nil, fmt.Errorf("%s:%w", name, err)
			}
			tests = append(tests, these...)
		}
	}
	return tests, nil
}

// ruleTests parses the tests of a rule.
func ruleTests(m strictyaml.Pair, rule int, r Rule) (tests []RuleTest, err error) {
	list, ok := m.Value.(*ast.SequenceNode)
	switch {
	case !ok:
		return nil, strictyaml.ErrorAt(m.Value, "rules[%d].tests must be a list", rule)
	case len(list.Values) > MaxRuleTests:
		return nil, strictyaml.ErrorAt(list, "rules[%d].tests has %d tests: at most %d are allowed", rule, len(list.Values), MaxRuleTests)
	}
	for i, node := range list.Values {
		t := RuleTest{Rule: rule}
		f := &t.Facts
		f.Hook, f.Tool, f.Prompt, f.Command, f.Cwd = r.Hook, r.Tool, r.Prompt, r.Command, r.Cwd
		if r.Emitter != nil {
			f.Emitter, f.Role = r.Emitter.ID, r.Emitter.Role
		}
		t.Line, _ = strictyaml.Position(node.GetToken())
		anything := func(string) error { return nil }
		where := fmt.Sprintf("rules[%d].tests[%d]", rule, i)
		err := readMembers(strictyaml.Pair{Key: m.Key, Node: node, Value: node}, where, "hook, tool, prompt, command, cwd, labels, emitter and expect", map[string]reader{
			"hook": textTo(&f.Hook, anything), "tool": textTo(&f.Tool, anything), "prompt": textTo(&f.Prompt, anything),
			"command": textTo(&f.Command, anything), "cwd": textTo(&f.Cwd, anything), "labels": globsTo(&f.Labels), "emitter": textTo(&f.Emitter, anything),
			"expect": textTo(&t.Expect, checkExpect),
		})
		if err != nil {
			return nil, err
		}
		if t.Expect == "" {
			return nil, strictyaml.ErrorAt(node, "%s expects nothing: give it expect: allow, deny or ask", where)
		}
		tests = append(tests, t)
	}
	return tests, nil
}

func checkExpect(expect string) error {
	switch expect {
	case DefaultAllow, DefaultDeny, "ask":
		return nil
	}
	return fmt.Errorf("must be allow, deny or ask, not %q", clip(expect, 80))
}
