package approval

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/hookrouter/hookrouter/internal/strictyaml"
)

// Limits of a rule file.
const (
	MaxRuleFile = 1 << 20 // bytes
	MaxRules    = 1000
	MaxGlob     = 1 << 10 // bytes of one glob
)

// ParseRules parses a rule file in YAML or JSON. name identifies the file in errors. The file
// either lists rules:
//
//	rules:
//	  - name: staging is fine   # default "rule 1"
//	    decision: allow         # or deny
//	    hook: production-*      # globs; at least one of hook, tool and prompt
//	    tool: Write
//	    prompt: "Deploy to staging*"
//	    labels: {none: ["*"]}             # any, none: globs
//	    emitter: {id: nats agent/ci-*, role: agent, proven: true}
//	    lineage: {root: s1, min_depth: 0, max_depth: 0}
//	    mode: shadow                      # what it would answer is recorded
//	    command: acme check conf/*.yaml   # see [Rule]
//	    cwd: /repo
//	    tests: [{command: acme rm x, expect: ask}] # see [ParseRuleTests]
//
// or it is one mapping from HOOK:PROMPT, split at the first colon, to a decision:
//
//	{"production_protection:production/*": "allow", "cost_control:openai:gpt-4": "deny"}
//
// Errors are like "rules.yaml:3:15: …". ParseRules rejects files that may not mean what they seem
// to: unknown or repeated keys, empty globs, an empty file.
func ParseRules(name string, text []byte) (Rules, error) {
	rules, err := parseRules(text)
	if err != nil {
		return nil, fmt.Errorf("%s:%w", name, err)
	}
	return rules, nil
}

func parseRules(text []byte) (Rules, error) {
	top, err := strictyaml.Document(text, MaxRuleFile, "write \"rules: []\" for no rules")
	if err != nil {
		return nil, err
	}
	for _, m := range top {
		if m.Key == "rules" {
			return ruleList(top)
		}
	}
	return rulePairs(top)
}

// ruleList parses the form that lists rules.
func ruleList(top []strictyaml.Pair) (Rules, error) {
	for _, m := range top {
		if m.Key != "rules" {
			return nil, strictyaml.ErrorAt(m.Node, "unknown key %q: only rules is known", clip(m.Key, 80))
		}
	}
	list, ok := top[0].Value.(*ast.SequenceNode)
	if !ok {
		return nil, strictyaml.ErrorAt(top[0].Value, "rules: must be a list (lines that begin with -)")
	}
	if len(list.Values) > MaxRules {
		return nil, strictyaml.ErrorAt(list, "rules: has %d rules: at most %d are allowed", len(list.Values), MaxRules)
	}
	rules := make(Rules, 0, len(list.Values))
	for i, node := range list.Values {
		r, err := oneRule(i, node)
		if err != nil {
			return nil, err
		}
		rules = append(rules, r)
	}
	return rules, nil
}

func oneRule(i int, node ast.Node) (Rule, error) {
	members, err := strictyaml.Mapping(node)
	if err != nil {
		return Rule{}, err
	}
	r := Rule{Name: fmt.Sprintf("rule %d", i+1)}
	fields := map[string]struct {
		value *string
		check func(string) error
	}{
		"name":     {&r.Name, checkLine},
		"decision": {&r.Decision, checkDecision},
		"hook":     {&r.Hook, checkGlob},
		"tool":     {&r.Tool, checkGlob},
		"prompt":   {&r.Prompt, checkGlob},
		"mode":     {&r.Mode, checkMode},
		"command":  {&r.Command, checkCommand},
		"cwd":      {&r.Cwd, checkCwd},
	}
	for _, m := range members {
		where := fmt.Sprintf("rules[%d].%s", i, m.Key)
		switch field, known := fields[m.Key]; {
		case known:
			err = readText(field.value, m, where, field.check)
		case m.Key == "labels":
			r.Labels, err = labelCondition(m, where)
		case m.Key == "emitter":
			r.Emitter, err = emitterCondition(m, where)
		case m.Key == "lineage":
			r.Lineage, err = lineageCondition(m, where)
		case m.Key == "tests":
			_, err = ruleTests(m, i, Rule{}) // checks them; their defaults are filled in once the rule is read
		default:
			err = strictyaml.ErrorAt(m.Node, "rules[%d]: unknown key %q: known are name, decision, hook, tool, prompt, command, cwd, mode, labels, emitter, lineage and tests", i, clip(m.Key, 80))
		}
		if err != nil {
			return Rule{}, err
		}
	}
	switch {
	case r.Decision == "":
		return Rule{}, strictyaml.ErrorAt(node, "rules[%d] has no decision: give it allow or deny", i)
	case r.Hook == "" && r.Tool == "" && r.Prompt == "":
		return Rule{}, strictyaml.ErrorAt(node, "rules[%d] matches everything: give it at least one of hook, tool and prompt", i)
	}
	return r, nil
}

// rulePairs parses the form that maps HOOK:PROMPT to a decision.
func rulePairs(top []strictyaml.Pair) (Rules, error) {
	if len(top) > MaxRules {
		return nil, strictyaml.ErrorAt(top[0].Node, "the file has %d rules: at most %d are allowed", len(top), MaxRules)
	}
	rules := make(Rules, 0, len(top))
	for i, m := range top {
		hook, prompt, ok := strings.Cut(m.Key, ":")
		if !ok {
			return nil, strictyaml.ErrorAt(m.Node, "%q is not a rule: write \"HOOK:PROMPT\": \"allow\", or a list of rules under the key rules", clip(m.Key, 80))
		}
		for _, given := range [...]string{hook, prompt} {
			if err := checkGlob(given); err != nil {
				return nil, strictyaml.ErrorAt(m.Node, "a side of the colon in %q %w", clip(m.Key, 80), err)
			}
		}
		decision, err := m.Text()
		if err != nil {
			return nil, err
		}
		if err := checkDecision(decision); err != nil {
			return nil, strictyaml.ErrorAt(m.Value, "the rule %q %w", clip(m.Key, 80), err)
		}
		rules = append(rules, Rule{Name: fmt.Sprintf("rule %d", i+1), Decision: decision, Hook: hook, Prompt: prompt})
	}
	return rules, nil
}

func checkDecision(decision string) error {
	if decision != DefaultAllow && decision != DefaultDeny {
		return fmt.Errorf("must be allow or deny, not %q", clip(decision, 80))
	}
	return nil
}

func checkMode(mode string) error {
	if mode != Shadow {
		return fmt.Errorf("must be shadow, not %q: without it a rule is in force", clip(mode, 80))
	}
	return nil
}

func checkGlob(glob string) error {
	switch {
	case strings.TrimSpace(glob) == "":
		return errors.New("is empty: write \"*\" for anything")
	case len(glob) > MaxGlob:
		return fmt.Errorf("has %d bytes: at most %d are allowed", len(glob), MaxGlob)
	}
	return nil
}
