package approval

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Rule answers approval requests before anyone is asked. Hook, Tool and Prompt are globs for the
// whole text: * is any run of characters, line breaks too, and ? is any one. At least one is
// required. Every condition that is set must hold. Without Command, Cwd, Labels, Emitter and
// Lineage a rule answers for every call and every session.
type Rule struct {
	Name     string `json:"name"`     // for people and the record
	Decision string `json:"decision"` // "allow" or "deny"
	Hook     string `json:"hook,omitempty"`
	Tool     string `json:"tool,omitempty"`
	Prompt   string `json:"prompt,omitempty"`

	// Mode is "shadow" for a rule that only records what it would answer, while a person is
	// asked. Empty means that it is in force.
	Mode string `json:"mode,omitempty"`
	// Command is a plain shell command, see [PlainCommand], which must be the whole call.
	// docs/*.md stands for one file in a directory: one word, no hidden file, and none whose
	// name suggests secrets or rights, such as docs/token.md.
	Command string `json:"command,omitempty"`
	Cwd     string `json:"cwd,omitempty"` // the exact directory that a command runs in

	Labels  *LabelCondition   `json:"labels,omitempty"`
	Emitter *EmitterCondition `json:"emitter,omitempty"`
	Lineage *LineageCondition `json:"lineage,omitempty"`
}

// Shadow is the [Rule.Mode] of a rule on trial.
const Shadow = "shadow"

// Rules are the persistent rules of a router, in file order. The zero Rules decide nothing.
type Rules []Rule

// Decide is [Rules.Match] for an unknown session and an unproven sender.
func (r Rules) Decide(hook, tool, prompt string) (rule Rule, found bool) {
	return r.Match(Facts{Hook: hook, Tool: tool, Prompt: prompt})
}

// Match returns the rule for an approval request, if there is one. A matching deny wins over
// every allow; among equals the first does. Of several [Facts.Questions] it is the rule for the
// first that has one. Shadow rules answer nothing, and with [Facts.DenyOnly] neither do rules that
// allow.
func (r Rules) Match(f Facts) (rule Rule, found bool) { return r.match(f, "") }

// Shadow returns the shadow rule that would answer an approval request without a matching rule
// in force, if there is one. Among several it chooses like [Rules.Match].
func (r Rules) Shadow(f Facts) (rule Rule, found bool) {
	if _, answered := r.Match(f); answered {
		return Rule{}, false
	}
	return r.match(f, Shadow)
}

// Enforced returns the rules with all shadow rules in force.
func (r Rules) Enforced() Rules {
	all := slices.Clone(r)
	for i := range all {
		all[i].Mode = ""
	}
	return all
}

func (r Rules) match(f Facts, mode string) (rule Rule, found bool) {
	questions := f.each()
	for _, decision := range [...]string{DefaultDeny, DefaultAllow} {
		if decision == DefaultAllow && f.DenyOnly {
			break
		}
		answered := 0
		for _, q := range questions {
			i := slices.IndexFunc(r, func(rule Rule) bool {
				return rule.Mode == mode && rule.Decision == decision && rule.matches(q)
			})
			if i < 0 {
				continue
			}
			if answered++; answered == 1 {
				rule = r[i]
			}
		}
		if answered == len(questions) || answered > 0 && decision == DefaultDeny {
			return rule, true
		}
	}
	return Rule{}, false
}

func (r Rule) matches(f Facts) bool {
	return (r.Hook != "" || r.Tool != "" || r.Prompt != "") &&
		(r.Hook == "" || Glob(r.Hook, f.Hook)) &&
		(r.Tool == "" || Glob(r.Tool, f.Tool)) &&
		(r.Prompt == "" || Glob(r.Prompt, f.Prompt)) &&
		(r.Command == "" || commandMatches(r.Command, f.Command)) && (r.Cwd == "" || r.Cwd == f.Cwd) &&
		r.Labels.holds(f) && r.Emitter.holds(f) && r.Lineage.holds(f)
}

// Decided is the decision that the rule makes. [Reason] tells it from a person's.
func (r Rule) Decided(now time.Time) Decision {
	return Decision{Granted: r.Decision == DefaultAllow, DecidedBy: byRule + r.Name, Decided: At(now)}
}

// String describes the rule in one line.
func (r Rule) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", r.Name, r.Decision)
	if r.Mode != "" {
		b.WriteString(" in " + r.Mode)
	}
	for _, given := range [...]struct{ name, glob string }{{"hook", r.Hook}, {"tool", r.Tool}, {"prompt", r.Prompt}} {
		if given.glob != "" {
			fmt.Fprintf(&b, " %s %q", given.name, given.glob)
		}
	}
	if conditions := r.Conditions(); conditions != "" {
		b.WriteString(" where " + conditions)
	}
	return b.String()
}

// Glob reports whether pattern matches the whole text, as in a [Rule]: * is any run
// of characters, and ? is any one. The time is at most the product of the lengths.
func Glob(pattern, text string) bool {
	p, t := 0, 0
	// A star takes as little as it can, and only the last one is ever retried: what an earlier
	// one could take, the later can too.
	star, resume := -1, 0 // the last star, and where the text continues after it
	for t < len(text) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, resume = p, t
			p++
		case p < len(pattern) && pattern[p] == '?':
			p, t = p+1, next(text, t)
		case p < len(pattern) && pattern[p] == text[t]:
			p, t = p+1, t+1
		case star >= 0:
			resume = next(text, resume)
			p, t = star+1, resume
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// next is the index of the character after the one at i.
func next(text string, i int) int {
	_, size := utf8.DecodeRuneInString(text[i:])
	return i + size
}
