package approvalpolicy

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/internal/guards/decision"
	"github.com/hookrouter/hookrouter/internal/guards/paths"
	"github.com/hookrouter/hookrouter/internal/guards/shell"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/approval"
)

// Options of the builtin. The zero Options ask about every tool call.
type Options struct {
	// Rules are looked at in their order: the first one that matches decides.
	Rules []Rule `json:"rules"`
	// Default decides where no rule matches: allow, deny or ask; empty means ask.
	Default decision.Decision `json:"default"`
	// Choices are offered where the default asks; empty means Allow and Deny.
	Choices []string `json:"options"`
	// Timeout is how long a person is waited for, in seconds; 0 means the router's
	// default. Rules may have their own.
	Timeout float64 `json:"timeout"`
}

// Rule decides about tool calls. What is given has to match; a rule that gives
// nothing matches every call.
type Rule struct {
	// Tools are classes, or globs for names in any case: shell, mcp__github__*.
	Tools []string `json:"tools"`
	// Commands are patterns of shell commands: git push --force*.
	Commands []string `json:"commands"`
	// Paths are globs for files: /srv/**, **/*.md.
	Paths []string `json:"paths"`
	// URLs are globs for addresses: https://*.example.com/*, or a host alone.
	URLs []string `json:"urls"`
	// Decision is allow, deny or ask.
	Decision decision.Decision `json:"decision"`
	// Reason is given to the agent that is denied, and to the person who is asked.
	Reason string `json:"reason"`
	// Choices are offered to the person; empty means Allow and Deny.
	Choices []string `json:"options"`
	// Timeout is how long the person is waited for, in seconds; 0 means that of the
	// Options.
	Timeout float64 `json:"timeout"`
}

// maxRules is the maximum number of rules.
const maxRules = 1000

// rule is a compiled Rule.
type rule struct {
	Rule
	name     string
	at       string // in the form of [kind.Rule]
	commands []shell.Pattern
	paths    []paths.Pattern
	urls     []urlPattern
}

func compile(o Options) (rules []rule, err error) {
	if len(o.Rules) > maxRules {
		return nil, kind.At("/rules", "has %d rules: at most %d are allowed", len(o.Rules), maxRules)
	}
	for i, r := range o.Rules {
		r.Timeout = cmp.Or(r.Timeout, o.Timeout)
		c, err := compileRule(jsontext.Pointer(fmt.Sprintf("/rules/%d", i)), r)
		if err != nil {
			return nil, err
		}
		c.name, c.at = fmt.Sprintf("rule %d", i+1), kind.Rule(jsontext.Pointer(fmt.Sprintf("/rules/%d", i)), "")
		rules = append(rules, c)
	}
	o.Default = cmp.Or(o.Default, decision.Ask)
	last, err := compileRule("", Rule{Decision: o.Default, Choices: o.Choices, Timeout: o.Timeout})
	if field, ok := errors.AsType[*kind.FieldError](err); ok && field.Pointer == "/decision" {
		field.Pointer = "/default"
	}
	last.name, last.at = "no rule", decision.Option("default")
	return append(rules, last), err
}

func compileRule(at jsontext.Pointer, r Rule) (rule, error) {
	c := rule{Rule: r}
	switch r.Decision {
	case decision.Allow, decision.Deny, decision.Ask:
	case "":
		return c, kind.At(at+"/decision", "the rule has no decision: give it allow, deny or ask")
	default:
		return c, kind.At(at+"/decision", "must be allow, deny or ask, not %q", r.Decision)
	}
	for i, text := range r.Tools {
		if strings.TrimSpace(text) == "" {
			return c, kind.At((at + "/tools").AppendToken(fmt.Sprint(i)), "is empty: write a class such as shell, or a name; * is any")
		}
	}
	var wrong [3]error
	c.commands, wrong[0] = decision.Patterns(at+"/commands", r.Commands, shell.ParsePattern)
	c.paths, wrong[1] = decision.Patterns(at+"/paths", r.Paths, paths.Parse)
	c.urls, wrong[2] = decision.Patterns(at+"/urls", r.URLs, parseURL)
	if err := cmp.Or(wrong[0], wrong[1], wrong[2]); err != nil {
		return c, err
	}
	if r.Decision != decision.Ask && len(r.Choices) > 0 {
		return c, kind.At(at+"/options", "are only for a rule that asks")
	}
	if err := approval.Check("", r.Choices); err != nil {
		return c, kind.At(at+"/options", "can't be shown: %w", err)
	}
	if r.Timeout < 0 {
		return c, kind.At(at+"/timeout", "must be a number of seconds above 0, not %v", r.Timeout)
	}
	return c, nil
}
